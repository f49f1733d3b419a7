/**
 * The reference of auth configuration fields: flag, environment names, default, meaning. Fields that differ in one
 * word, such as those of the providers, share an entry.
 */
import type { Schema } from '../../shared/schema.ts';
import type { Setting } from '../given-texts.ts';
import { type AuthFieldName, authField, authGroups, originalVariable } from './auth-fields.ts';

/** One entry of a reference. */
export interface AuthReferenceEntry {
  /** `--mailer-subjects-EMAIL` */
  readonly flag: string;
  /** Placeholder of the value; null: a switch, which alone means `true`. */
  readonly placeholder: string | null;
  /** Our name before Supabase Auth's. */
  readonly environment: readonly string[];
  /** `auth.email.smtp.host`; null: only under its own name at top level. */
  readonly file: string | null;
  /** As users write it; null: none. */
  readonly default: string | null;
  readonly doc: string;
  /** The placeholder word, and the words it stands for as flags write them; null: none. */
  readonly word: { readonly placeholder: string; readonly standsFor: readonly string[] } | null;
}

type AuthReference = ReadonlyMap<string, readonly AuthReferenceEntry[]>;

/** `smtp_host` -> `smtp-host`. */
export function authFlagName(name: AuthFieldName): string {
  return name.replaceAll('_', '-');
}

/** `smtp_host` -> `PGREFLECT_SMTP_HOST`. */
function authVariable(name: AuthFieldName): string {
  return `PGREFLECT_${name.toUpperCase()}`;
}

/** The names of a field for options. */
export function authSetting(name: AuthFieldName): Setting {
  const others = [originalVariable(name)].filter((text) => text !== null);
  const { secret = false, list = false } = authField(name);
  return { flag: authFlagName(name), variable: authVariable(name), others, secret, repeatable: false, isList: list };
}

/** Makes the reference. */
export function authReference(): AuthReference {
  return new Map(Object.entries(authGroups).map(([heading, names]) => [heading, entriesOf(names)]));
}

function entriesOf(names: readonly AuthFieldName[]): readonly AuthReferenceEntry[] {
  const families = Map.groupBy(names, (name) => pattern(name, name));
  return [...families.values()].flatMap((members) => {
    const [first] = members;
    return first === undefined ? [] : [{ ...describe(first), word: wordOf(members) }];
  });
}

function wordOf(members: readonly AuthFieldName[]): AuthReferenceEntry['word'] {
  const alike = members.flatMap((name) => authField(name).like ?? []);
  const [first] = alike;
  if (first === undefined) return null;
  return { placeholder: first.placeholder, standsFor: alike.map(({ word }) => word.replaceAll('_', '-')) };
}

function describe(name: AuthFieldName): Omit<AuthReferenceEntry, 'word'> {
  const { kind, file, default: fallback, doc } = authField(name);
  const { flag, variable, others, secret } = authSetting(name);
  const variables = [variable, ...(secret ? [`${variable}_FILE`] : []), ...others];
  return {
    flag: `--${pattern(name, flag, '-')}`,
    placeholder: placeholderOf(kind),
    environment: variables.map((text) => pattern(name, text)),
    file: file === undefined ? null : pattern(name, file),
    default: fallback === null || fallback === '' ? null : String(fallback),
    doc: pattern(name, doc, ' '),
  };
}

const placeholders: Readonly<Record<string, string>> = {
  integer: 'NUMBER',
  number: 'NUMBER',
  string: 'TEXT',
  object: 'JSON',
};

/** Null for a switch. */
function placeholderOf({ json: { type, enum: words } }: Schema<unknown>): string | null {
  return Array.isArray(words) ? words.join('|') : (placeholders[String([type].flat()[0])] ?? null);
}

/** The text with the distinguishing word replaced by its placeholder. */
function pattern(name: AuthFieldName, text: string, separator = '_'): string {
  const { like } = authField(name);
  if (like === undefined) return text;
  const word = like.word.replaceAll('_', separator);
  return text.replace(word, like.placeholder).replace(word.toUpperCase(), like.placeholder);
}
