/**
 * Reads a line of an import: a user as JSON, with the names of the admin API, its identities and second factors.
 *
 * Whatever is refused here is refused with the reason, and nothing of the line is lost: a field that is not known is
 * an error. PostgreSQL checks times and ids once more.
 */
import { randomUUID } from 'node:crypto';
import { nearestName } from '../../config/nearest-name.ts';
import { role } from '../../config/value-kinds.ts';
import { isObject, parseJson } from '../../shared/json.ts';
import { about, flag, text, type ValueOf } from '../../shared/schema.ts';
import { isUuid, nilUuid } from '../../shared/uuid.ts';
import { parseEmail, parsePhone } from '../model/addresses.ts';
import { AuthError } from '../model/auth-error.ts';
import { readHash, UnreadableHashError } from '../secrets/password-hash.ts';
import { fromBase32 } from '../secrets/totp.ts';
import { type Body, bodySchema, metadata, needed, readFields } from '../steps/request-body.ts';

/** Longest line in bytes: both kinds of metadata and a hundred identities. */
export const maxLineBytes = 1024 * 1024;

/** The line cannot be imported. The message says why, in a sentence without its period. */
export class LineError extends Error {
  override readonly name = 'LineError';
}

/** Values for lines that do not say. */
export interface LineDefaults {
  readonly role: string;
  readonly audience: string;
}

const userFields = bodySchema({
  id: text, aud: text, role: text, email: text, phone: text, password_hash: text,
  email_confirmed_at: text, phone_confirmed_at: text, invited_at: text, last_sign_in_at: text,
  created_at: text, updated_at: text, banned_until: text, deleted_at: text,
  is_anonymous: flag, is_sso_user: flag, app_metadata: metadata, user_metadata: metadata,
}); // biome-ignore format: a list of fields

const identityFields = bodySchema({
  id: text, provider: text, provider_id: text, identity_data: metadata,
  last_sign_in_at: text, created_at: text, updated_at: text,
}); // biome-ignore format: a list of fields

const factorFields = bodySchema({
  id: text, factor_type: needed(about(text, { enum: ['totp', 'phone'] })), friendly_name: text, status: needed(about(text, { enum: ['verified', 'unverified'] })),
  secret: text, phone: text, created_at: text, updated_at: text,
}); // biome-ignore format: a list of fields

/** Most identities, and most factors, of a user. */
const maxItems = 100;

/** A user to import. */
export interface UserLine {
  /** What no other user may have: `id ID`, `email ADDRESS`, `phone NUMBER`, `identity PROVIDER ID`. */
  readonly keys: readonly string[];
  /** The element of `$1` of import-users.sql. */
  readonly json: string;
}

/** @throws LineError */
export function readUserLine(bytes: Uint8Array, defaults: LineDefaults): UserLine {
  const text = decode(bytes);
  const line = parseJson(text);
  if (!isObject(line)) throw new LineError('is not a JSON object');
  checkNumbers(text);
  const { identities, factors, ...rest } = line;
  const user = read('', rest, userFields, ['identities', 'factors']);
  const ways = readItems('identities', identities, identityFields);
  for (const [at, way] of (ways ?? []).entries()) checkIdentity(`identities[${at}]`, way);
  for (const [at, factor] of (readItems('factors', factors, factorFields) ?? []).entries())
    checkFactor(`factors[${at}]`, factor);
  // The address of a deleted user is a hash.
  const isDeleted = user.deleted_at !== null;
  const [email, phone] = [user.email || null, user.phone || null];
  if (user.password_hash) readPassword(user.password_hash);
  const given = {
    id: checkId('id', user.id) ?? randomUUID(),
    aud: user.aud || defaults.audience,
    role: inTerms('role', () => role.parseText(user.role || defaults.role)),
    email: email === null || isDeleted ? email : inTerms('email', () => parseEmail(email)),
    phone: phone === null || isDeleted ? phone : inTerms('phone', () => parsePhone(phone)),
  };
  const addresses = [...(email === null ? [] : ['email']), ...(phone === null ? [] : ['phone'])];
  const providers = [...new Set(ways?.map(({ provider }) => provider) ?? addresses)];
  if (providers.length === 0 && addresses.length === 0 && !user.is_anonymous && !isDeleted)
    throw new LineError('needs "email", "phone" or "identities"');
  const made = {
    ...given,
    identities: addresses.map((provider) => ({ provider })),
    providers: providers.length === 0 ? {} : { provider: providers[0], providers },
  };
  const keys = [
    `id ${given.id}`,
    ...(given.email === null || user.is_sso_user ? [] : [`email ${given.email}`]),
    ...(given.phone === null ? [] : [`phone ${given.phone}`]),
    ...(ways ?? []).map(({ provider, provider_id: subject }) => `identity ${provider} ${subject ?? given.id}`),
  ];
  return { keys, json: `${JSON.stringify(made).slice(0, -1)},"line":${text}}` };
}

/** Strings and numbers. All digits are read at once, so that none is read twice. */
const scalars = /"(?:[^"\\]|\\[\s\S])*"?|-?\d+(?:\.\d+)?(?:e[+-]?(?<exponent>\d+))?/gi;

/** PostgreSQL stores numbers of JSON with all their digits, which an export writes: `1e131000` would come back 20,000 times as long. */
function checkNumbers(text: string): void {
  let length = text.length;
  for (const [number, exponent] of text.matchAll(scalars)) {
    if (exponent === undefined) continue;
    // Supabase Auth reads them as floats, too.
    if (!Number.isFinite(Number(number)))
      throw new LineError(`has the number ${number.slice(0, 40)}, which is too large`);
    length += Number(exponent);
  }
  if (length > maxLineBytes)
    throw new LineError(`has numbers of too many digits: more than ${maxLineBytes} when written out`);
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new LineError('is not UTF-8');
  }
}

/** Fields by name. @param place What is read: `identities[0]`; empty for the user. @param others Fields read apart. */
function read<T extends object>(place: string, value: unknown, body: Body<T>, others: readonly string[] = []) {
  if (!isObject(value)) throw new LineError(`${place} is not an object`);
  const known = [...body.names, ...others];
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  const dot = place && `${place}.`;
  if (unknown !== undefined) {
    const nearest = nearestName(unknown, known);
    const hint = nearest === null ? '' : `; did you mean "${nearest}"?`;
    throw new LineError(`has an unknown field ${JSON.stringify(dot + unknown.slice(0, 100))}${hint}`);
  }
  const found = inTerms(place, () => readFields(value, body));
  for (const [name, text] of Object.entries(found)) {
    if (/_(at|until)$/.test(name) && text !== null) checkTime(dot + name, text as string);
  }
  return found;
}

function readItems<T extends object>(name: string, value: unknown, body: Body<T>) {
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value)) throw new LineError(`"${name}" is not a list`);
  if (value.length > maxItems) throw new LineError(`"${name}" has more than ${maxItems} elements`);
  return value.map((item: unknown, at) => read(`${name}[${at}]`, item, body));
}

function checkIdentity(place: string, { id, provider, provider_id: subject }: ValueOf<typeof identityFields>): void {
  checkId(`${place}.id`, id);
  if (!/^[\w:.-]{1,100}$/.test(provider ?? '')) throw new LineError(`${place}.provider is not the name of a provider`);
  const isAddress = provider === 'email' || provider === 'phone';
  if (subject === '' || (subject === null && !isAddress))
    throw new LineError(`${place}.provider_id is missing: the id of the user at the provider`);
}

function checkFactor(place: string, factor: ValueOf<typeof factorFields>): void {
  const { factor_type: type, status, secret, phone } = factor;
  checkId(`${place}.id`, factor.id);
  if (type !== 'totp' && type !== 'phone') throw new LineError(`${place}.factor_type must be totp or phone`);
  if (status !== null && status !== 'verified' && status !== 'unverified')
    throw new LineError(`${place}.status must be verified or unverified`);
  if (type === 'phone') inTerms(`${place}.phone`, () => parsePhone(phone ?? ''));
  else if (secret?.startsWith('{')) throw new LineError(`${place}.secret is encrypted`);
  else if ((fromBase32(secret ?? '')?.length ?? 0) < minSecretBytes)
    throw new LineError(`${place}.secret must be base32 of at least ${minSecretBytes} bytes`);
}

/** As short as those of widespread apps. */
const minSecretBytes = 10;

function checkId(place: string, id: string | null): string | null {
  if (id === null) return null;
  if (!isUuid(id) || id === nilUuid) throw new LineError(`${place} is not a UUID`);
  return id.toLowerCase();
}

/** A stricter form than PostgreSQL's, which also takes `now` and dates of several orders. It checks the numbers. */
function checkTime(place: string, text: string): void {
  const isTime = /^\d{4,6}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d(:?\d\d)?)?)?$/.test(text);
  if (!isTime && text !== 'infinity') throw new LineError(`${place} is not a time such as 2026-01-31T12:00:00Z`);
}

function readPassword(passwordHash: string): void {
  try {
    readHash(passwordHash);
  } catch (error) {
    if (!(error instanceof UnreadableHashError)) throw error;
    throw new LineError(`password_hash: ${withoutPeriod(error.message)}`);
  }
}

/** The reasons of the API, as those of a place in the line. */
function inTerms<T>(place: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    const reason = (error as Error).message.replace('Could not parse request body as JSON: ', '');
    if (error instanceof AuthError || place === 'role')
      throw new LineError(`${place && `${place}: `}${withoutPeriod(reason)}`);
    throw error;
  }
}

function withoutPeriod(text: string): string {
  return text.replace(/\.$/, '');
}
