/** What of the page Settings is found from everywhere: its sections, what is done there, and every field. */
import type { Command } from '../../shared/commands.ts';
import { goTo } from '../../shared/router.ts';
import { groupAddress, newTokenPath } from './place-of.ts';
import { fieldPlaces, settingsSections } from './sections.ts';

const otherSections = [
  { path: 'keys', title: 'Keys' },
  { path: 'access-tokens', title: 'Access tokens' },
  { path: 'history', title: 'History' },
] as const;

/** All sections, in the order of the list. */
export const allSections: readonly { readonly path: string; readonly title: string }[] = [
  ...settingsSections,
  ...otherSections,
];

/** Something that is no field. */
interface SettingsTask {
  /** Title of its section. */
  readonly section: 'Keys' | 'Access tokens';
  readonly title: string;
  readonly address: string;
  /** Other words by which it is found. */
  readonly words: string;
}

/** What is done where there are no fields. */
export const settingsTasks: readonly SettingsTask[] = [
  {
    section: 'Keys',
    title: 'API keys and addresses',
    address: groupAddress('keys', 'For clients'),
    words: 'anon key service key url copy clients',
  },
  {
    section: 'Keys',
    title: 'Signing keys',
    address: groupAddress('keys', 'Signing keys'),
    words: 'jwks public verify tokens jwt',
  },
  {
    section: 'Keys',
    title: 'Rotate the keys',
    address: groupAddress('keys', 'Rotate the keys'),
    words: 'rotation replace change signing key jwt secret leaked',
  },
  {
    section: 'Access tokens',
    title: 'Create access token …',
    address: newTokenPath,
    words: 'new management api scope sql',
  },
];

/** For the command palette, once something is typed: they are many. */
export const settingsCommands: readonly Command[] = [
  ...allSections.map(({ path, title }) => ({
    id: `settings ${path}`,
    title: `Settings: ${title}`,
    part: 'Settings',
    run: () => goTo(`settings/${path}`),
  })),
  ...settingsTasks.map(({ title, address, words }) => ({
    id: `settings task ${title}`,
    title,
    part: 'Settings',
    words,
    run: () => goTo(address),
  })),
  ...[...fieldPlaces].map(([name, { section, field }]) => ({
    id: `setting ${name}`,
    title: field.label,
    part: section.title,
    words: name,
    run: () => goTo(`settings/${section.path}?field=${name}`),
  })),
];
