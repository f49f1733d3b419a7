/**
 * Writes fields as the auth tables of a configuration file, under the names of `supabase/config.toml` where it has them. What
 * auth-file.ts reads of it is the same; secrets are `env(NAME)`.
 */
import { isDeepStrictEqual } from 'node:util';
import { stringify } from 'smol-toml';
import { type AuthFieldName, authField, authFieldNames } from './auth-fields.ts';
import { authSetting } from './auth-reference.ts';

interface Table {
  [key: string]: unknown;
}

/** A file, and the variables that its secrets name. */
interface WrittenAuthFile {
  readonly text: string;
  readonly variables: readonly string[];
}

/** @param values Checked values by field. */
export function writeAuthFile(values: ReadonlyMap<AuthFieldName, unknown>): WrittenAuthFile {
  const root: Table = {};
  const variables: string[] = [];
  for (const name of authFieldNames.filter((one) => values.has(one))) {
    const { secret } = authField(name);
    const value = values.get(name);
    const { variable } = authSetting(name);
    if (secret && value !== '') variables.push(variable);
    const { place, written } = secret && value !== '' ? placed(name, `env(${variable})`) : placed(name, value);
    put(root, place.split('.'), written);
  }
  return { text: stringify(root), variables };
}

/** Its place with the value as the file has it; its own name where nothing in the file means the value. */
function placed(name: AuthFieldName, value: unknown): { readonly place: string; readonly written: unknown } {
  const { file, convert } = authField(name);
  if (file === undefined) return { place: name, written: value };
  if (convert === undefined) return { place: file, written: value };
  const candidates = [
    ...(typeof value === 'boolean' ? [!value] : []),
    ...(typeof value === 'string' ? [value.split(',').filter((item) => item !== '')] : []),
  ];
  const written = candidates.find((candidate) => means(convert, candidate, value));
  return written === undefined ? { place: name, written: value } : { place: file, written };
}

function means(convert: (value: unknown) => unknown, candidate: unknown, value: unknown): boolean {
  try {
    return isDeepStrictEqual(convert(candidate), value);
  } catch {
    return false;
  }
}

function put(table: Table, [key = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) table[key] = value;
  else {
    table[key] ??= {};
    put(table[key] as Table, rest, value);
  }
}
