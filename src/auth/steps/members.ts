/**
 * Reads the members of a JSON body and checks their types first. Unknown members are ignored, null counts as absent.
 *
 * Refuses text that PostgreSQL cannot store, once for all requests.
 */
import { isObject, isStorable } from '../../shared/json.ts';
import { type JsonSchema, orNull } from '../../shared/json-schema.ts';
import { AuthError } from '../model/auth-error.ts';
import { assertModest, type Metadata } from '../model/metadata.ts';

interface MemberTypes {
  readonly text: string;
  readonly flag: boolean;
  /** Metadata of a user. */
  readonly metadata: Metadata;
}

/** A type; `needed`: required text; a list: the allowed texts. */
type Member = keyof MemberTypes | 'needed' | readonly string[];

/** The members of a body by name and type. Any member may be absent; the caller reports a missing one. */
export type BodyMembers = Readonly<Record<string, Member>>;

/** The values of the members; null where the member is absent. */
export type Members<S extends BodyMembers> = {
  readonly [K in keyof S]: (S[K] extends keyof MemberTypes ? MemberTypes[S[K]] : string) | null;
};

const schemaTypes = { text: 'string', flag: 'boolean', metadata: 'object' } as const;
const typeNames = { text: 'a string', flag: 'true or false', metadata: 'an object' } as const;

/**
 * Reads members by name and type.
 *
 * @param body A parsed body; anything but an object is refused.
 * @throws AuthError `bad_json` if a member has another type, `validation_failed` if text cannot be stored or metadata
 *   is too large.
 */
export function readMembers<const S extends BodyMembers>(body: unknown, members: S): Members<S> {
  if (!isObject(body)) throw badJson('the body is not an object');
  const entries = Object.entries(members).map(([name, member]) => {
    const type = typeOf(member);
    const value = Object.hasOwn(body, name) ? (body[name] ?? null) : null;
    if (value !== null && !hasType(value, type)) throw badJson(`member "${name}" is not ${typeNames[type]}`);
    if (!isStorable(value)) {
      throw new AuthError('validation_failed', `The value of "${name}" has text that cannot be stored.`);
    }
    if (type === 'metadata' && value !== null) assertModest(value as Metadata);
    return [name, value];
  });
  return Object.fromEntries(entries) as Members<S>;
}

/** The schema of a body. It omits the further rules for texts. */
export function bodySchema(members: BodyMembers): JsonSchema {
  const properties = Object.entries(members).map(([name, member]) => [name, memberSchema(name, member)]);
  const required = Object.keys(members).filter((name) => isNeeded(members[name]!));
  return { type: 'object', properties: Object.fromEntries(properties), ...(required.length > 0 && { required }) };
}

function memberSchema(name: string, member: Member): JsonSchema {
  const type = schemaTypes[typeOf(member)];
  const words = typeof member === 'string' ? memberWords[name] : member;
  const format = memberFormats[name];
  const schema = { type, ...(words && { enum: words }), ...(format && { format }) };
  return isNeeded(member) ? schema : orNull(schema);
}

/** Formats by member name: a name means the same in every body. */
const memberFormats: Readonly<Record<string, string>> = {
  email: 'email',
  new_email: 'email',
  password: 'password',
  current_password: 'password',
  id: 'uuid',
  challenge_id: 'uuid',
  redirect_to: 'uri',
};

const memberWords: Readonly<Record<string, readonly string[]>> = {
  code_challenge_method: ['s256', 'S256', 'plain'],
  channel: ['sms', 'whatsapp'],
};

function typeOf(member: Member): keyof MemberTypes {
  return typeof member !== 'string' || member === 'needed' ? 'text' : member;
}

function isNeeded(member: Member): boolean {
  return typeof member !== 'string' || member === 'needed';
}

/** The error for an invalid body. @param reason The rest of the sentence. */
export function badJson(reason: string): AuthError {
  return new AuthError('bad_json', `Could not parse request body as JSON: ${reason}`);
}

function hasType(value: unknown, type: keyof MemberTypes): boolean {
  if (type === 'text') return typeof value === 'string';
  return type === 'flag' ? typeof value === 'boolean' : isObject(value);
}
