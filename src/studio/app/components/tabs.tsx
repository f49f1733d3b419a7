/** Tabs between views of the same thing; arrow keys move between them. */
import { type KeyboardEvent, type ReactNode, useId } from 'react';

/** A view. */
export interface Tab<T extends string> {
  readonly name: T;
  readonly title: string;
  /** Shown to a pointer that rests on it. */
  readonly hint?: string;
}

interface TabsProps<T extends string> {
  readonly label: string;
  readonly tabs: readonly Tab<T>[];
  readonly chosen: T;
  readonly onChoose: (name: T) => void;
  readonly children: ReactNode;
  readonly end?: ReactNode;
}

/** The tabs above the view. */
export function Tabs<T extends string>({ label, tabs, chosen, onChoose, children, end }: TabsProps<T>) {
  const id = useId();
  const move = (event: KeyboardEvent<HTMLDivElement>): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const index = tabs.findIndex(({ name }) => name === chosen);
    const next = tabs[(index + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    onChoose(next.name);
    event.currentTarget.querySelector<HTMLElement>(`[data-tab="${next.name}"]`)?.focus();
  };
  return (
    <>
      <div className="tab-bar">
        <div className="tabs" role="tablist" aria-label={label} onKeyDown={move}>
          {tabs.map(({ name, title, hint }) => (
            <button
              type="button"
              role="tab"
              key={name}
              data-tab={name}
              id={`${id}-${name}`}
              title={hint}
              aria-selected={name === chosen}
              aria-controls={`${id}-panel`}
              tabIndex={name === chosen ? 0 : -1}
              onClick={() => onChoose(name)}
            >
              {title}
            </button>
          ))}
        </div>
        {end}
      </div>
      <div className="tab-panel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`}>
        {children}
      </div>
    </>
  );
}
