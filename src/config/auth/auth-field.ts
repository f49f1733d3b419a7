/**
 * The definition of an auth configuration field: kind, default and names, and the kinds of values.
 *
 * A value comes as JSON (management API), text (environment, flags) or TOML (file). Every kind reads all three and
 * throws `Error` with the rest of a sentence that begins with the field's name.
 */
import { isObject, isStorable, parseJson } from '../../shared/json.ts';
import { parseBoolean } from '../value-kinds.ts';
import { parseDurationSeconds } from './go-duration.ts';

/** How values of one kind are parsed and checked. */
export interface FieldKind<T> {
  /** The JSON type, for schemas and messages. */
  readonly type: 'boolean' | 'integer' | 'number' | 'string' | 'object';
  /** Range of a number. */
  readonly minimum?: number;
  readonly maximum?: number;
  /** Allowed texts. */
  readonly choices?: readonly string[];
  /** Reads a value of the management API, without coercion. @throws Error "must be …" */
  fromJson(value: unknown): T;
  /** Reads a start value. @throws Error "must be …" */
  fromText(text: string): T;
}

/** One field. `T` is the type of its value; it includes null only if null is the default. */
export interface AuthField<T> {
  readonly kind: FieldKind<NonNullable<T>>;
  /** The value if none is set; null in the management API restores it. */
  readonly default: T;
  /** The management API refuses null. */
  readonly notNull?: true;
  /** Shown only as a digest, and never quoted in messages. */
  readonly secret?: true;
  /**
   * The fields that decide where a secret is sent; none for one that only signs or checks. Whoever changes such a field
   * must know the secret. Every secret has this.
   */
  readonly sentTo?: readonly string[];
  /** Its name in Supabase Auth's environment; default: `GOTRUE_` and the field's name. Null: none. */
  readonly environment?: string | null;
  /** Its path in the configuration file: `auth.email.smtp.host`. */
  readonly file?: string;
  /** Converts the file's value before the kind reads it; for lists, inverted switches and words. */
  readonly convert?: (value: unknown) => unknown;
  /**
   * Marks fields that differ only in one word, such as those of the providers; references show them as one entry.
   * `word` is in the names and (with blanks for underscores) in the sentence, and `placeholder`, for example
   * `PROVIDER`, replaces it.
   */
  readonly like?: { readonly placeholder: string; readonly word: string };
  /** One sentence for the reference. */
  readonly doc: string;
}

/** Optional properties of fields. */
export type FieldExtras = Omit<AuthField<never>, 'kind' | 'default' | 'doc' | 'secret' | 'sentTo'> & Secrecy;

/** Whoever adds a secret says where it is sent. */
type Secrecy =
  | { readonly secret?: never; readonly sentTo?: never }
  | { readonly secret: true; readonly sentTo: readonly string[] };

/** Makes a field. */
export function field<T>(
  kind: FieldKind<NonNullable<T>>,
  usual: T,
  doc: string,
  extras: FieldExtras = {},
): AuthField<T> {
  return { kind, default: usual, doc, ...extras };
}

/** `true` or `false`. */
export const boolean: FieldKind<boolean> = {
  type: 'boolean',
  fromJson(value) {
    if (typeof value !== 'boolean') throw new Error('must be true or false');
    return value;
  },
  fromText: parseBoolean,
};

/** An integer from `minimum` to `maximum`; `read` parses text that may be more than digits. */
export function integer(minimum: number, maximum: number, read: (text: string) => number = Number): FieldKind<number> {
  const check = (value: number): number => {
    if (value >= minimum && value <= maximum && Number.isInteger(value)) return value;
    throw new Error(`must be a whole number from ${minimum} to ${maximum}`);
  };
  return {
    type: 'integer',
    minimum,
    maximum,
    fromJson(value) {
      if (typeof value !== 'number' || !Number.isInteger(value)) throw new Error('must be an integer');
      return check(value);
    },
    fromText: (text) => check(text.trim() === '' ? Number.NaN : read(text.trim())),
  };
}

/** An integer number of seconds; as text also a duration such as `90s` or `1h30m`. */
export function seconds(minimum: number, maximum: number): FieldKind<number> {
  return integer(minimum, maximum, (text) => (/^[0-9]+$/.test(text) ? Number(text) : parseDurationSeconds(text)));
}

/** A number of hours, 0 or more; as text also a duration such as `24h`. */
export const hours: FieldKind<number> = {
  type: 'number',
  minimum: 0,
  fromJson(value) {
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
      throw new Error('must be a number of hours, 0 or more');
    return value;
  },
  fromText: (text) => (/^[0-9]+(\.[0-9]+)?$/.test(text.trim()) ? Number(text) : parseDurationSeconds(text) / 3600),
};

/** Text of at most `maxBytes`; `check` returns the rest of a sentence if it is invalid. */
export function string(check: (text: string) => string | null = () => null, maxBytes = 1_000_000): FieldKind<string> {
  const read = (text: string): string => {
    if (Buffer.byteLength(text) > maxBytes) throw new Error(`must have at most ${maxBytes} bytes`);
    if (text.includes('\0')) throw new Error('must not contain a NUL character');
    const problem = check(text);
    if (problem !== null) throw new Error(problem);
    return text;
  };
  return {
    type: 'string',
    fromJson(value) {
      if (typeof value !== 'string') throw new Error('must be a string');
      return read(value);
    },
    fromText: read,
  };
}

/**
 * A JSON object of at most `maxBytes`; as text, its JSON. `read` checks its members and returns the value.
 *
 * @param read Throws Error with the rest of a sentence.
 */
export function object<T extends object>(
  read: (value: Readonly<Record<string, unknown>>) => T,
  maxBytes = 1_000_000,
): FieldKind<T> {
  const fromJson = (value: unknown): T => {
    if (!isObject(value)) throw new Error('must be a JSON object');
    if (Buffer.byteLength(JSON.stringify(value)) > maxBytes) throw new Error(`must have at most ${maxBytes} bytes`);
    if (!isStorable(value)) throw new Error('must have well-formed Unicode text without NUL characters');
    return Object.freeze(read(value));
  };
  return { type: 'object', fromJson, fromText: (text) => fromJson(parseJson(text)) };
}

/** One of the given words. */
export function choice<const C extends string>(...choices: readonly C[]): FieldKind<C> {
  const read = (value: unknown): C => {
    const found = choices.find((word) => word === value);
    if (found === undefined) throw new Error(`must be one of ${choices.join(', ')}`);
    return found;
  };
  return { type: 'string', choices, fromJson: read, fromText: (text) => read(text.trim()) };
}
