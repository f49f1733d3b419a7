/**
 * The hook `custom_access_token`: gets the claims of an access token before it is signed, and returns the final claims.
 * It may add, change and remove claims, but not the required ones. It may not say who signed in other than the sign-in
 * did, or how strongly, and it may not set an admin role: its server is not trusted with every account.
 */
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../shared/json.ts';
import { readRoleClaim } from '../../shared/role-claim.ts';
import { AuthError } from '../model/auth-error.ts';
import { metadataBytes } from '../model/metadata.ts';
import { secondFactorMethods } from '../model/session.ts';
import type { Aal } from '../model/user.ts';
import type { AccessClaims } from '../secrets/access-token.ts';
import { askHook } from './ask-hook.ts';
import type { AuthContext, AuthServices } from './auth-context.ts';

/**
 * The claims that the hook returns; unchanged if it is off.
 *
 * @param context The transaction of the sign-in, if there is one.
 * @throws AuthError The hook's refusal or failure; `unexpected_failure` if its claims are not valid for a token.
 */
export async function customizeClaims(
  context: AuthContext,
  claims: AccessClaims,
  method: string,
): Promise<AccessClaims> {
  if (!context.config.hook_custom_access_token_enabled) return claims;
  const payload = { user_id: claims.sub, claims, authentication_method: method };
  const answer = await askHook(context, 'custom_access_token', payload);
  const problem = findProblem(answer.claims, claims, context.services);
  if (problem === null) return endInTime(context, answer.claims as AccessClaims, claims);
  context.services.observe({ kind: 'hook_failed', hook: 'custom_access_token', reason: problem });
  throw new AuthError('unexpected_failure', `output claims do not conform to the expected schema: ${problem}`);
}

/** Services whose log says already that the hook sets later ends. */
const noted = new WeakSet<AuthServices>();

/** Nothing ends an access token before its `exp`, so a hook cannot move that; its clock may be ahead of ours. */
function endInTime({ services }: AuthContext, claims: AccessClaims, { exp }: AccessClaims): AccessClaims {
  if (claims.exp <= exp) return claims;
  if (!noted.has(services)) {
    noted.add(services);
    const message = 'The hook custom_access_token set a later `exp` than the usual one, which stays.';
    services.observe({
      kind: 'warning',
      message,
      hint: 'A hook can only shorten a token. Set --jwt-exp for all of them.',
    });
  }
  return { ...claims, exp };
}

type Check = readonly [what: string, isRight: (value: unknown) => boolean];

const text: Check = ['a text', (value) => typeof value === 'string'];
const integer: Check = ['a whole number', Number.isSafeInteger];
const flag: Check = ['true or false', (value) => typeof value === 'boolean'];
const list: Check = ['a list', Array.isArray];
const audience: Check = ['a text or a list', (value) => typeof value === 'string' || Array.isArray(value)];
const object: Check = ['an object', isObject];

/** Claims that every reader of our tokens relies on. */
const required: Readonly<Record<string, Check>> = {
  iss: text, sub: text, aud: audience, exp: integer, iat: integer, email: text, phone: text, role: text, aal: text,
  session_id: text, is_anonymous: flag,
}; // biome-ignore format: a table

const optional: Readonly<Record<string, Check>> = {
  jti: text, nbf: integer, app_metadata: object, user_metadata: object, amr: list,
}; // biome-ignore format: a table

/** The sign-in, the session and the configuration decided these; a list of one audience is that audience. */
const fixed = ['iss', 'aud', 'sub', 'session_id'] as const;

/**
 * Largest size of the claims, as JSON in UTF-8: a request with the token must fit `maxHeaderSize` of the HTTP server.
 */
const maxBytes = 40_960;

type Claims = Readonly<Record<string, unknown>>;
type AmrClaim = { readonly method: string; readonly timestamp: number };
type RoleRules = Pick<AuthServices, 'adminRoles' | 'roleClaim'>;

/** Why the claims are not valid for a token, without their values; null if they are. */
function findProblem(claims: unknown, given: AccessClaims, services: RoleRules): string | null {
  if (!isObject(claims)) return 'claims must be an object';
  for (const [name, [what, isRight]] of Object.entries({ ...required, ...optional })) {
    const isAbsent = claims[name] === undefined;
    if (isAbsent && name in required) return `${name} is missing`;
    if (!isAbsent && !isRight(claims[name])) return `${name} must be ${what}`;
  }
  const bytes = metadataBytes(claims);
  if (bytes > maxBytes && bytes > metadataBytes(given)) {
    return `claims may have 40 kB of JSON at most; these have ${Math.ceil(bytes / 1024)} kB`;
  }
  const changed = fixed.find((name) => !isDeepStrictEqual([claims[name]].flat(), [given[name]].flat()));
  if (changed !== undefined) return `${changed} must stay as it is`;
  return findRaisedLevel(claims, given) ?? findRaisedRole(claims, given, services);
}

const levels: readonly unknown[] = ['aal1', 'aal2', 'aal3'] satisfies readonly Aal[];

/** Policies trust `aal` and `amr` to say which proofs the session has seen, and when. */
function findRaisedLevel(claims: Claims, given: AccessClaims): string | null {
  const level = levels.indexOf(given.aal);
  const claimed = levels.indexOf(claims.aal);
  if (claimed === -1 || claimed > level) return `aal must be ${levels.slice(0, level + 1).join(' or ')}`;
  const own = (given.amr as readonly AmrClaim[]) ?? [];
  const newest = Math.max(...own.map(({ timestamp }) => timestamp));
  for (const entry of (claims.amr as readonly unknown[] | undefined) ?? []) {
    // RFC 8176 has texts in this list; tokens of Supabase Auth have objects.
    const { method, timestamp } = isObject(entry) ? entry : { method: entry, timestamp: undefined };
    if (typeof method !== 'string') return 'amr must be a list of methods';
    const isNew = !own.some((known) => known.method === method);
    if (isNew && level === 0 && isSecondFactor(method))
      return 'amr must not have a second factor that the session lacks';
    if (timestamp !== undefined && !(Number(timestamp) <= newest)) return 'amr must not be later than the sign-in';
  }
  return null;
}

/** The methods of second factors, and the names of RFC 8176 for several factors. */
function isSecondFactor(method: string): boolean {
  return secondFactorMethods.includes(method) || /^(?:mfa|mca)\b/i.test(method);
}

/** Otherwise, configuring a hook or breaking into its server would be enough to become admin of everything. */
function findRaisedRole(claims: Claims, given: AccessClaims, rules: RoleRules): string | null {
  for (const name of new Set(['role', rules.roleClaim])) {
    const role = readRoleClaim(claims, name);
    const isRaised = role !== readRoleClaim(given, name) && rules.adminRoles.includes(String(role));
    if (isRaised) return `${name} must not become that of an admin`;
  }
  return null;
}
