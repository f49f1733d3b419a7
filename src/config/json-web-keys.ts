/**
 * Parses keys given as JSON: an array of JSON Web Keys, a single one, or a set (`{"keys": [...]}`).
 *
 * Pins every key to one algorithm, because keys usable with several allow algorithm-confusion attacks. Messages name
 * keys by position or `kid`, never by content.
 */
import { isObject, parseJson } from '../shared/json.ts';
/** A JSON Web Key with the members that the gateway reads; others are kept. */
export interface JsonWebKeyMember {
  readonly kty: string;
  readonly kid?: string;
  readonly alg?: string;
  readonly use?: string;
  readonly key_ops?: readonly string[];
  readonly [member: string]: unknown;
}

/** Algorithms of keys: shared secrets (`HS…`), and key pairs. */
export const algorithms = [
  'HS256', 'HS384', 'HS512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519',
]; // biome-ignore format: a table of names

const algorithmOfCurve: Readonly<Record<string, string>> = {
  'P-256': 'ES256', 'P-384': 'ES384', 'P-521': 'ES512', Ed25519: 'EdDSA',
}; // biome-ignore format: a table

/** The algorithm that a key without `alg` is pinned to. */
export function defaultAlgorithm({ kty, crv }: { readonly kty: string; readonly crv?: unknown }): string | undefined {
  return { oct: 'HS256', RSA: 'RS256' }[kty] ?? algorithmOfCurve[String(crv)];
}

/** @throws Error with the rest of a sentence that begins with the option's name. */
export function parseJsonWebKeys(text: string): readonly JsonWebKeyMember[] {
  const json = parseJson(text);
  if (json === undefined) throw new Error('must be JSON (an array of keys) or the name of a file that holds it');
  const list = Array.isArray(json) ? json : isObject(json) && Array.isArray(json.keys) ? json.keys : [json];
  if (list.length === 0) throw new Error('holds no key');
  const keys = list.map((key, index) => pinned(key, index));
  if (keys.filter(isSigner).length > 1) throw new Error('has more than one key with `sign` in key_ops; keep one');
  return keys;
}

/** Whether a key signs tokens. */
export function isSigner(key: JsonWebKeyMember): boolean {
  return key.key_ops?.includes('sign') === true;
}

function pinned(key: unknown, index: number): JsonWebKeyMember {
  if (!isObject(key) || typeof key.kty !== 'string') throw new Error(`has no "kty" in key ${index + 1}`);
  const name = typeof key.kid === 'string' ? `key "${key.kid}"` : `key ${index + 1}`;
  for (const member of requiredMembers(key)) {
    if (typeof key[member] !== 'string') throw new Error(`has no "${member}" in ${name}`);
  }
  if (key.key_ops !== undefined && !Array.isArray(key.key_ops))
    throw new Error(`: "key_ops" of ${name} must be an array`);
  const { kty } = key;
  const alg = key.alg ?? (kty === 'RSA' ? undefined : defaultAlgorithm({ ...key, kty }));
  if (alg === undefined) throw new Error(`does not say which algorithm ${name} is for; add "alg", for example "RS256"`);
  if (typeof alg !== 'string' || !algorithms.includes(alg)) {
    throw new Error(`: "alg" of ${name} must be one of ${algorithms.join(', ')}`);
  }
  const pinnedKey: JsonWebKeyMember = { ...key, kty: key.kty, alg };
  if (isSigner(pinnedKey) && key.kty !== 'oct' && typeof key.d !== 'string') {
    throw new Error(`: ${name} has \`sign\` in key_ops but no private part "d"`);
  }
  return pinnedKey;
}

function requiredMembers(key: Readonly<Record<string, unknown>>): readonly string[] {
  if (key.kty === 'oct') return ['k'];
  if (key.kty === 'RSA') return ['n', 'e'];
  if (key.kty === 'EC') return ['crv', 'x', 'y'];
  if (key.kty === 'OKP') return ['crv', 'x'];
  throw new Error(`has a key of the unknown type "${String(key.kty)}"`);
}
