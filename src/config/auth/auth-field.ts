/**
 * The definition of an auth configuration field: schema, default and names, and the schemas that only fields have.
 *
 * A value comes as JSON (management API), text (environment, flags) or TOML (file).
 */
import { isObject, isStorable } from '../../shared/json.ts';
import { asText, integerBetween, type Schema, schemaOf } from '../../shared/schema.ts';
import { parseDurationSeconds } from './go-duration.ts';

/** One field. `T` is the type of its value; it includes null only if null is the default. */
export interface AuthField<T> {
  readonly kind: Schema<NonNullable<T>>;
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
  /** Items separated by commas: the flag may be repeated. */
  readonly list?: true;
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
export function field<T>(kind: Schema<NonNullable<T>>, usual: T, doc: string, extras: FieldExtras = {}): AuthField<T> {
  return { kind, default: usual, doc, ...extras };
}

/** An integer number of seconds; as text also a duration such as `90s` or `1h30m`. */
export function seconds(minimum: number, maximum: number): Schema<number> {
  return integerBetween(minimum, maximum, (given) =>
    /^[0-9]+$/.test(given) ? Number(given) : parseDurationSeconds(given),
  );
}

/** A number of hours, 0 or more; as text also a duration such as `24h`. */
export const hours: Schema<number> = schemaOf(
  { type: 'number', minimum: 0 },
  (value) => {
    if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
    throw new Error('must be a number of hours, 0 or more');
  },
  (given) => (/^[0-9]+(\.[0-9]+)?$/.test(given.trim()) ? Number(given) : parseDurationSeconds(given) / 3600),
);

/** Text of at most `maxBytes`; `check` returns the rest of a sentence if it is invalid. */
export function string(check: (text: string) => string | null = () => null, maxBytes = 1_000_000): Schema<string> {
  return asText((given) => {
    if (Buffer.byteLength(given) > maxBytes) throw new Error(`must have at most ${maxBytes} bytes`);
    if (given.includes('\0')) throw new Error('must not contain a NUL character');
    const problem = check(given);
    if (problem !== null) throw new Error(problem);
    return given;
  });
}

/**
 * A JSON object of at most `maxBytes`; as text, its JSON. `read` checks its members and returns the value.
 *
 * @param read Throws Error with the rest of a sentence.
 */
export function object<T extends object>(
  read: (value: Readonly<Record<string, unknown>>) => T,
  maxBytes = 1_000_000,
): Schema<T> {
  return schemaOf({ type: 'object' }, (value) => {
    if (!isObject(value)) throw new Error('must be a JSON object');
    if (Buffer.byteLength(JSON.stringify(value)) > maxBytes) throw new Error(`must have at most ${maxBytes} bytes`);
    if (!isStorable(value)) throw new Error('must have well-formed Unicode text without NUL characters');
    return Object.freeze(read(value));
  });
}
