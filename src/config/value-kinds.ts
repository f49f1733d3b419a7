/**
 * Parsers of option texts: one per kind of value, each a pure function from text to value.
 *
 * A parser throws `Error` with the rest of a sentence that begins with the option's name ("must be a whole number
 * ..."). It never quotes the text: the loader does, unless the option is a secret.
 */
import { isIP } from 'node:net';
import { isWrittenByUsers } from '../shared/role-claim.ts';
import { connectionUrlProblem } from './connection-url.ts';

/** Parses the text of one option, or throws an `Error` that states what it must be. */
export type ParseValue<T> = (text: string) => T;

/** Any non-empty text. */
export function parseText(text: string): string {
  if (text.trim() === '') throw new Error('must not be empty');
  return text;
}

/** `true`, `false` and common words for them. */
export function parseBoolean(text: string): boolean {
  const word = text.trim().toLowerCase();
  if (['true', 't', 'on', 'yes', '1'].includes(word)) return true;
  if (['false', 'f', 'off', 'no', '0'].includes(word)) return false;
  throw new Error('must be true or false');
}

/** An integer from `least` to `most`, inclusive. */
export function integerBetween(least: number, most: number): ParseValue<number> {
  return (text) => {
    const value = /^-?[0-9]+(_[0-9]+)*$/.test(text.trim()) ? Number(text.trim().replaceAll('_', '')) : Number.NaN;
    if (value >= least && value <= most) return value;
    const kubernetes = text.startsWith('tcp://')
      ? ' (Kubernetes sets such variables for a service of that name; switch `enableServiceLinks` off)'
      : '';
    throw new Error(`must be a whole number from ${least} to ${most}${kubernetes}`);
  };
}

/** One of the given words. */
export function oneOf<const T extends string>(...choices: readonly T[]): ParseValue<T> {
  return (text) => {
    const found = choices.find((choice) => choice === text.trim());
    if (found !== undefined) return found;
    throw new Error(`must be one of ${choices.join(', ')}`);
  };
}

/** Names separated by commas; surrounding blanks are ignored, at least one is required, repetitions are refused. */
export function parseNames(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.some((name) => name === '')) throw new Error('must be names separated by commas, none of them empty');
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`names "${twice}" twice`);
  return names;
}

/** Names separated by commas, or `*` for all. */
export function parseNamesOrAll(text: string): readonly string[] | '*' {
  return text.trim() === '*' ? '*' : parseNames(text);
}

/**
 * Role names that tokens may contain. `none` and empty are refused, because PostgreSQL reads them as the login role.
 */
export function parseRoles(text: string): readonly string[] | '*' {
  const roles = parseNamesOrAll(text);
  if (roles !== '*') for (const role of roles) parseRole(role);
  return roles;
}

/** The name of a database role. */
export function parseRole(text: string): string {
  const role = text.trim();
  if (role === '' || role.toLowerCase() === 'none')
    throw new Error('must be the name of a role, and "none" is not one');
  if (Buffer.byteLength(role) > 63) throw new Error('must be a role name of at most 63 bytes');
  return role;
}

/** The name of the claim with the role, or its path. */
export function parseRoleClaim(text: string): string {
  const name = parseText(text);
  if (isWrittenByUsers(name))
    throw new Error('must not be below user_metadata, which users write: anybody could be admin');
  return name;
}

/** A PostgreSQL connection string; checks only its form. */
export function parseConnectionString(text: string): string {
  const problem = connectionUrlProblem(text.trim());
  if (problem !== null) throw new Error(problem);
  return text.trim();
}

/** An address that begins with `http://` or `https://`, without its trailing slash. */
export function parseHttpUrl(text: string): string {
  const url = URL.parse(text.trim());
  if (url === null || !['http:', 'https:'].includes(url.protocol)) throw new Error('must be an http or https address');
  return text.trim().replace(/(?<!\/)\/+$/, '');
}

/** As `parseHttpUrl`, for an address that paths are appended to. */
export function parseBaseUrl(text: string): string {
  if (/[?#]/.test(text)) throw new Error('must be an http or https address without "?" and "#"');
  return parseHttpUrl(text);
}

/** Origins (`https://host:port`) separated by commas, or `*`. */
export function parseOrigins(text: string): readonly string[] | '*' {
  const origins = parseNamesOrAll(text);
  if (origins === '*') return '*';
  return origins.map((origin) => {
    const url = URL.parse(origin);
    if (
      url === null ||
      origin.includes('*') ||
      url.origin === 'null' ||
      url.origin !== origin.replace(/\/$/, '').toLowerCase()
    ) {
      throw new Error('must be `*` or origins like https://app.example.com, separated by commas');
    }
    return url.origin;
  });
}

/** IP addresses and networks (`10.1.2.0/24`) separated by commas. */
export function parseNetworks(text: string): readonly string[] {
  const networks = parseNames(text);
  if (networks.every(isNetwork)) return networks;
  throw new Error('must be IP addresses or networks like 10.1.2.0/24, separated by commas');
}

function isNetwork(text: string): boolean {
  const [, address = '', prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bits = { 4: 32, 6: 128 }[isIP(address)];
  return bits !== undefined && Number(prefix ?? bits) <= bits;
}

/** Twenty letters or digits. */
export function parseProjectRef(text: string): string {
  if (!/^[a-z0-9]{20}$/.test(text.trim())) throw new Error('must be 20 lower-case letters or digits');
  return text.trim();
}

/**
 * A signing secret long enough for HS256, and not our examples' secret, with which anyone could make a token of the
 * service role.
 */
export function parseSecret(text: string): string {
  if (/^change-me\b/i.test(text.trim())) throw new Error('is the example value; run `pgreflect keys` to create one');
  if (text.trim().length < 32) throw new Error('must have at least 32 characters; run `pgreflect keys` to create one');
  return text.trim();
}

/** A number of requests, or `off`. */
export function parseRate(text: string): number | null {
  if (text.trim() === 'off') return null;
  return integerBetween(1, 1_000_000)(text);
}
