/**
 * The page's state: the stored configuration, and the changes that are not saved.
 *
 * A change remembers the value that it was made from, to detect another person's. Changes are kept in the tab, so neither
 * navigation nor a reload loses one; typed secrets are kept in memory alone.
 */
import type { ChangeNote } from '../../../../management/change-note.ts';
import type { DescribedField, describedFields } from '../../../../management/describe-fields.ts';
import type { ValueOf } from '../../../../shared/schema.ts';
import { ApiError } from '../../shared/api.ts';
import { askProject, session } from '../../shared/session.ts';
import { createStore, type Store } from '../../shared/store.ts';
import { noteUnsaved } from '../../shared/unsaved.ts';

/** Values by field. */
type Values = Readonly<Record<string, unknown>>;

/** The configuration as it is stored. */
export interface StoredSettings {
  readonly values: Values;
  readonly fields: ReadonlyMap<string, DescribedField>;
  /** The gateway refuses changes. */
  readonly isConfigOnly: boolean;
  /** For `If-Match`. */
  readonly version: string;
}

/** Null until it was read. */
export const storedSettings: Store<StoredSettings | null> = createStore<StoredSettings | null>(null);

/** A change that is not saved. */
export interface SettingChange {
  /** Null: what applies if nothing is stored. */
  readonly value: unknown;
  /** The value when the change was begun, or when its author last saw another person's. */
  readonly base: unknown;
}

type Changes = Readonly<Record<string, SettingChange>>;

const storageName = 'pgreflect:settings';

/** By field. */
export const changes: Store<Changes> = createStore<Changes>(
  JSON.parse(sessionStorage.getItem(storageName) ?? '{}') as Changes,
);
keepChanges();
changes.subscribe(keepChanges);

/** What the server said of the last attempt to save, by field; under the empty name what concerns no field. */
export const problems: Store<Readonly<Record<string, readonly string[]>>> = createStore({});

session.subscribe(() => {
  if (session.get().kind !== 'none') return;
  changes.set({});
  problems.set({});
  storedSettings.set(null);
});

function keepChanges(): void {
  const { fields } = storedSettings.get() ?? {};
  const entries = Object.entries(changes.get());
  // A secret is typed after the fields were read.
  const kept = entries.filter(([name]) => fields?.get(name)?.isSecret !== true);
  sessionStorage.setItem(storageName, JSON.stringify(Object.fromEntries(kept)));
  noteUnsaved('settings', entries.length > 0);
}

/** Reads the stored configuration; drops changes that somebody else has stored. @throws ApiError */
export async function readSettings(signal?: AbortSignal): Promise<StoredSettings> {
  const options = signal === undefined ? {} : { signal };
  const [{ body: values, headers }, { body: described }] = await Promise.all([
    askProject<Values>('config/auth', options),
    askProject<ValueOf<typeof describedFields>>('config/auth/fields', options),
  ]);
  const fields = new Map(described.fields.map((field) => [field.name, field]));
  // Compressing proxies weaken an `ETag` or append to it; only its number counts.
  const version = /"\d+/.exec(headers.get('etag') ?? '')?.[0].concat('"') ?? '*';
  const stored = { values, fields, isConfigOnly: described.isConfigOnly, version };
  storedSettings.set(stored);
  const open = Object.entries(changes.get()).filter(([name, { value }]) => !isInForce(stored, name, value));
  if (open.length < Object.keys(changes.get()).length) changes.set(Object.fromEntries(open));
  return stored;
}

function areSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Whether storing this value changes nothing. */
function isInForce({ values, fields }: StoredSettings, name: string, value: unknown): boolean {
  if (value === null) return fields.get(name)?.origin !== 'stored';
  return areSame(value, values[name]);
}

/** The value of the page: the change, or what is in force. */
export function shownValue(
  { values, fields }: StoredSettings,
  change: SettingChange | undefined,
  name: string,
): unknown {
  if (change === undefined) return values[name];
  return change.value === null ? fields.get(name)?.initial : change.value;
}

/** Takes a value into the changes. @param value Null: what applies if nothing is stored; undefined drops the change. */
export function change(name: string, value: unknown): void {
  const stored = storedSettings.get();
  if (stored === null) return;
  const { [name]: known, ...others } = changes.get();
  const base = known === undefined ? stored.values[name] : known.base;
  const isNone = value === undefined || isInForce(stored, name, value);
  changes.set(isNone ? others : { ...others, [name]: { value, base } });
  const { [name]: _told, ...rest } = problems.get();
  problems.set(rest);
}

/** Takes back what applies without a stored value; a field that refuses null gets it as its value. */
export function resetField({ name, isRequired, initial }: DescribedField): void {
  change(name, isRequired ? initial : null);
}

/** Bases a change on the stored value, which its author has seen. */
export function keepMine(name: string): void {
  const { [name]: known, ...others } = changes.get();
  const stored = storedSettings.get();
  if (known !== undefined && stored !== null)
    changes.set({ ...others, [name]: { ...known, base: stored.values[name] } });
}

/** Drops all changes. */
export function discardAll(): void {
  changes.set({});
  problems.set({});
}

/** Whether somebody else stored another value since the change was begun. */
export function isOvertaken({ values }: StoredSettings, name: string, { base }: SettingChange): boolean {
  return !areSame(values[name], base);
}

/** The result of saving. */
export type SaveResult =
  | { readonly kind: 'saved'; readonly count: number; readonly warnings: readonly string[] }
  | { readonly kind: 'refused' }
  /** Somebody else saved first; the page has their values now. */
  | { readonly kind: 'overtaken' };

/** Stores all changes or none. @throws ApiError */
export async function saveChanges(): Promise<SaveResult> {
  const stored = storedSettings.get();
  const sent = changes.get();
  if (stored === null || Object.entries(sent).some(([name, each]) => isOvertaken(stored, name, each)))
    return { kind: 'overtaken' };
  const body = Object.fromEntries(Object.entries(sent).map(([name, { value }]) => [name, value]));
  try {
    const answer = await askProject<{ readonly warnings: readonly ChangeNote[] }>('config/auth', {
      method: 'PATCH',
      headers: { 'if-match': stored.version, prefer: 'return=representation; warnings' },
      body,
    });
    changes.set(Object.fromEntries(Object.entries(changes.get()).filter(([name, each]) => sent[name] !== each)));
    problems.set({});
    await readSettings();
    return {
      kind: 'saved',
      count: Object.keys(sent).length,
      warnings: answer.body.warnings.map(({ message }) => message),
    };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.problems.length > 0) {
      const groups = Map.groupBy(error.problems, ({ field }) => field ?? '');
      problems.set(Object.fromEntries([...groups].map(([name, all]) => [name, all.map(({ message }) => message)])));
      return { kind: 'refused' };
    }
    if (error.status !== 412) throw error;
    // The configuration changed meanwhile, usually in another field.
    await readSettings();
    return saveChanges();
  }
}
