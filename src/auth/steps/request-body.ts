/**
 * Bodies: objects with fields of which each may be absent or null, for the request reports what it misses. Unknown
 * fields are ignored.
 *
 * Refuses text that PostgreSQL cannot store, once for all requests.
 */
import { isObject, isStorable } from '../../shared/json.ts';
import { about, type JsonSchema, objectOf, orNull, record, type Schema, type ValueOf } from '../../shared/schema.ts';
import { AuthError } from '../model/auth-error.ts';
import { assertModest, type Metadata } from '../model/metadata.ts';

/** Metadata of a user. */
export const metadata = record<Metadata>();

/** A field that the document shows as required. */
interface Needed<T> extends Schema<T> {
  readonly isNeeded: true;
}

/** Marks a field as required. */
export function needed<T>(schema: Schema<T>): Needed<T> {
  return { ...schema, isNeeded: true };
}

type BodyFields = Readonly<Record<string, Schema<unknown> | Needed<unknown>>>;

/** A body. */
export interface Body<T> extends Schema<T> {
  readonly names: readonly string[];
}

/** Makes a body of its fields. Formats and words of names that mean the same everywhere are added. */
export function bodySchema<M extends BodyFields>(fields: M): Body<{ readonly [K in keyof M]: ValueOf<M[K]> | null }> {
  const entries = Object.entries(fields).map(([name, field]) => {
    const known = about(field, factsByName[name] ?? {});
    const nullable = orNull(known);
    return [
      name,
      { ...nullable, ...('isNeeded' in field ? { json: known.json } : { isOptional: true as const }) },
    ] as const;
  });
  const body = objectOf(Object.fromEntries(entries));
  return { ...(body as Schema<never>), names: Object.keys(fields) };
}

const factsByName: Readonly<Record<string, JsonSchema>> = {
  email: { format: 'email' },
  new_email: { format: 'email' },
  password: { format: 'password' },
  current_password: { format: 'password' },
  id: { format: 'uuid' },
  challenge_id: { format: 'uuid' },
  redirect_to: { format: 'uri' },
  code_challenge_method: { enum: ['s256', 'S256', 'plain'] },
  channel: { enum: ['sms', 'whatsapp'] },
};

/**
 * Reads a parsed body; null for an absent field.
 *
 * @throws AuthError `bad_json` if it or a field has another type, `validation_failed` if text cannot be stored or
 *   metadata is too large.
 */
export function readFields<T extends object>(value: unknown, body: Body<T>): T {
  if (!isObject(value)) throw badJson('the body is not an object');
  const read = parse(value, body);
  for (const [name, field] of Object.entries(read)) {
    if (!isStorable(field))
      throw new AuthError('validation_failed', `The value of "${name}" has text that cannot be stored.`);
    if (isObject(field)) assertModest(field as Metadata);
  }
  return read;
}

function parse<T>(value: unknown, body: Body<T>): T {
  try {
    return body.parse(value);
  } catch (error) {
    throw badJson((error as Error).message);
  }
}

/** The error for an invalid body. @param reason The rest of the sentence. */
export function badJson(reason: string): AuthError {
  return new AuthError('bad_json', `Could not parse request body as JSON: ${reason}`);
}
