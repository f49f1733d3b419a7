/** Light or dark: by the system, until the user chooses. */
import { createStore, type Store } from './store.ts';

/** The choices. */
export const themes = ['system', 'light', 'dark'] as const;

type Theme = (typeof themes)[number];

const storageName = 'pgreflect:theme';

/** The choice of this browser. */
export const theme: Store<Theme> = createStore(readTheme());
apply(theme.get());
theme.subscribe(() => {
  localStorage.setItem(storageName, theme.get());
  apply(theme.get());
});

function readTheme(): Theme {
  const kept = localStorage.getItem(storageName);
  return themes.find((name) => name === kept) ?? 'system';
}

function apply(chosen: Theme): void {
  document.documentElement.dataset.theme = chosen;
}
