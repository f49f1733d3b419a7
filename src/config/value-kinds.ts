/**
 * The kinds of option values that only options have: schemas that read a text.
 *
 * An error is the rest of a sentence that begins with the option's name. It never quotes the text: the loader does,
 * unless the option is a secret.
 */
import { isIP } from 'node:net';
import { isWrittenByUsers } from '../shared/role-claim.ts';
import { asText, integerBetween, type Schema } from '../shared/schema.ts';
import { connectionUrlProblem } from './connection-url.ts';

const lists = new WeakSet<Schema<unknown>>();

/** A kind of items separated by commas. */
export function asList<T>(parse: (text: string) => T): Schema<T> {
  const kind = asText(parse);
  lists.add(kind);
  return kind;
}

/** Whether several texts of the kind are one list. */
export function isList(kind: Schema<unknown>): boolean {
  return lists.has(kind);
}

/** Any non-empty text. */
export const filledText = asText((text): string => {
  if (text.trim() === '') throw new Error('must not be empty');
  return text;
});

/** Names separated by commas; surrounding blanks are ignored, at least one is required, repetitions are refused. */
export const names = asList((text): readonly string[] => {
  const given = text.split(',').map((name) => name.trim());
  if (given.some((name) => name === '')) throw new Error('must be names separated by commas, none of them empty');
  const twice = given.find((name, index) => given.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`names "${twice}" twice`);
  return given;
});

/** Names separated by commas, or `*` for all. */
export const namesOrAll = asList((text): readonly string[] | '*' => {
  return text.trim() === '*' ? '*' : names.parseText(text);
});

/** The same, or `none`. */
export const namesAllOrNone = asList((text): readonly string[] | '*' => {
  return text.trim() === 'none' ? [] : namesOrAll.parseText(text);
});

/**
 * Role names that tokens may contain. `none` and empty are refused, because PostgreSQL reads them as the login role.
 */
export const roles = asList((text): readonly string[] | '*' => {
  const given = namesOrAll.parseText(text);
  if (given !== '*') for (const name of given) role.parseText(name);
  return given;
});

/** The name of a database role. */
export const role = asText((text): string => {
  const name = text.trim();
  if (name === '' || name.toLowerCase() === 'none')
    throw new Error('must be the name of a role, and "none" is not one');
  if (Buffer.byteLength(name) > 63) throw new Error('must be a role name of at most 63 bytes');
  return name;
});

/** The name of the claim with the role, or its path. */
export const roleClaimPath = asText((text): string => {
  const name = filledText.parseText(text);
  if (isWrittenByUsers(name))
    throw new Error('must not be below user_metadata, which users write: anybody could be admin');
  return name;
});

/** A PostgreSQL connection string; checks only its form. */
export const connectionString = asText((text): string => {
  const problem = connectionUrlProblem(text.trim());
  if (problem !== null) throw new Error(problem);
  return text.trim();
});

/** An address that begins with `http://` or `https://`, without its trailing slash. */
export const httpUrl = asText((text): string => {
  const url = URL.parse(text.trim());
  if (url === null || !['http:', 'https:'].includes(url.protocol)) throw new Error('must be an http or https address');
  return text.trim().replace(/(?<!\/)\/+$/, '');
});

/** As `httpUrl`, for an address that paths are appended to. */
export const baseUrl = asText((text): string => {
  if (/[?#]/.test(text)) throw new Error('must be an http or https address without "?" and "#"');
  return httpUrl.parseText(text);
});

/** Origins (`https://host:port`) separated by commas, or `*`. */
export const origins = asList((text): readonly string[] | '*' => {
  const given = namesOrAll.parseText(text);
  if (given === '*') return '*';
  return given.map((origin) => {
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
});

/** IP addresses and networks (`10.1.2.0/24`) separated by commas. */
export const networks = asList((text): readonly string[] => {
  const given = names.parseText(text);
  if (given.every(isNetwork)) return given;
  throw new Error('must be IP addresses or networks like 10.1.2.0/24, separated by commas');
});

function isNetwork(text: string): boolean {
  const [, address = '', prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bits = { 4: 32, 6: 128 }[isIP(address)];
  return bits !== undefined && Number(prefix ?? bits) <= bits;
}

/** Twenty letters or digits. */
export const projectRef = asText((text): string => {
  if (!/^[a-z0-9]{20}$/.test(text.trim())) throw new Error('must be 20 lower-case letters or digits');
  return text.trim();
});

/** A signing secret long enough for HS256, and not that of our examples, which everybody knows. */
export const signingSecret = asText((text): string => {
  if (/^change-me\b/i.test(text.trim())) throw new Error('is the example value; run `pgreflect keys` to create one');
  if (text.trim().length < 32) throw new Error('must have at least 32 characters; run `pgreflect keys` to create one');
  return text.trim();
});

/** A number of requests, or `off`. */
export const rate = asText((text): number | null => {
  if (text.trim() === 'off') return null;
  return integerBetween(1, 1_000_000).parseText(text);
});
