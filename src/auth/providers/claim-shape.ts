/**
 * Which claims of a provider become data of the identity, and under which names. The placement is that of Supabase Auth,
 * because applications, triggers and policies read it.
 */
import { isStorable } from '../../shared/json.ts';
import type { Metadata } from '../model/metadata.ts';
import type { Claims } from './plain-provider.ts';

/** The data of an identity beside its subject and its address. */
export interface ClaimShape {
  /** Fields by name, with the claim that each is made of. */
  readonly fields: Readonly<Record<string, string>>;
  /** The claims in `custom_claims`: only those, and no object for none; or all but those. Absent: no such object. */
  readonly custom?: { readonly only: readonly string[] } | { readonly allBut: readonly string[] };
}

/** Claims that Supabase Auth keeps of an ID token whose issuer it does not know. */
const tokenClaims = [
  'aud', 'iat', 'exp', 'name', 'family_name', 'given_name', 'middle_name', 'nickname', 'preferred_username', 'profile', 'picture',
  'website', 'gender', 'birthdate', 'zoneinfo', 'locale', 'updated_at', 'phone', 'full_name', 'avatar_url', 'slug', 'provider_id',
  'user_name',
]; // biome-ignore format: a list of names

/** The shape of such a token. */
export const tokenShape: ClaimShape = { fields: Object.fromEntries(tokenClaims.map((name) => [name, name])) };

/** The fields that the claims have, without `custom_claims`. */
export function readShape({ fields }: ClaimShape, claims: Claims): Metadata {
  const read = Object.entries(fields).map(([name, claim]) => [name, (readers[claim] ?? readClaimText)(claims[claim])]);
  return Object.fromEntries(read.filter(([, value]) => value !== undefined));
}

/** The claims in `custom_claims`; undefined: there is no such object. */
export function readCustomClaims({ custom }: ClaimShape, claims: Claims): Metadata | undefined {
  if (custom === undefined) return undefined;
  const isKept =
    'only' in custom ? (name: string) => custom.only.includes(name) : (name: string) => !custom.allBut.includes(name);
  const kept = Object.entries(claims)
    .filter(([name, value]) => isKept(name) && isStorable(name) && isStorable(value))
    .map(([name, value]) => [name, name === 'is_private_email' ? isTrueClaim(value) : value]);
  return kept.length === 0 && 'only' in custom ? undefined : Object.fromEntries(kept);
}

/** Whether a claim says yes. Some providers send the text. */
export function isTrueClaim(claim: unknown): boolean {
  return claim === true || claim === 'true';
}

/** Longest text of a claim. Longer ones are neither names nor addresses, and every access token would carry them. */
const maxTextLength = 2048;

/** The text of a claim that can be kept. */
export function readClaimText(value: unknown): string | undefined {
  const isText = typeof value === 'string' && value !== '' && value.length <= maxTextLength;
  return isText && isStorable(value) ? value : undefined;
}

/** Claims that are no text. */
const readers: Readonly<Record<string, (value: unknown) => unknown>> = {
  aud: (value) => (value === undefined ? undefined : [value].flat().flatMap((client) => readClaimText(client) ?? [])),
  iat: readNumber,
  exp: readNumber,
  updated_at: (value) => (typeof value === 'number' ? readTime(value) : readClaimText(value)),
};

function readNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** Seconds since the epoch, as text. */
function readTime(seconds: number): string | undefined {
  const time = new Date(Math.trunc(seconds) * 1000);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString().replace('.000Z', 'Z');
}
