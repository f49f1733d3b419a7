/**
 * Access tokens of the management API: made by `pgreflect tokens` and by operators, checked at every request, stored as SHA-256
 * hashes only.
 *
 * A token is random enough that its hash needs neither salt nor slowness.
 */
import { hash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Queryable } from '../../postgres/system/queryable.ts';

/** What a token may do. */
export const accessScopes = ['auth_config:read', 'auth_config:write', 'project:operate'] as const;

/** One of the scopes. */
export type AccessScope = (typeof accessScopes)[number];

/** What a token may do where nothing is said: everything that the programs of Supabase know. */
export const usualScopes: readonly AccessScope[] = ['auth_config:read', 'auth_config:write'];

/** A token as it is listed; the token itself cannot be had again. */
export interface AccessToken {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly AccessScope[];
  /** Null: valid for every project of this database. */
  readonly projectRef: string | null;
  readonly createdAt: Date;
  /** Null: never. */
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

/** What a new token is to be. */
export type NewAccessToken = Pick<AccessToken, 'name' | 'scopes' | 'projectRef' | 'createdAt' | 'expiresAt'>;

/** A new token in the form that programs for Supabase accept. */
export function makeAccessToken(): string {
  return `sbp_${randomBytes(20).toString('hex')}`;
}

/**
 * Makes a token.
 *
 * @returns The token, which is shown once, and what is stored of it.
 */
export async function createAccessToken(
  database: Queryable,
  wanted: NewAccessToken,
): Promise<{ readonly token: string; readonly stored: AccessToken }> {
  const token = makeAccessToken();
  const stored: AccessToken = { ...wanted, id: randomUUID(), revokedAt: null };
  await database.query(
    `insert into auth.pgreflect_access_tokens (id, name, token_hash, scopes, project_ref, created_at, expires_at)
    values ($1, $2, $3, $4::text[], $5, $6::timestamptz, $7::timestamptz)`,
    [stored.id, stored.name, tokenHash(token), stored.scopes, stored.projectRef, stored.createdAt, stored.expiresAt],
  );
  return { token, stored };
}

/** Rows are `AccessToken`s. */
const columns = `t.id, t.name, t.scopes, t.project_ref as "projectRef", t.created_at as "createdAt",
  t.expires_at as "expiresAt", t.revoked_at as "revokedAt"`;

/** `$2` is the time. */
const isValid = 't.revoked_at is null and (t.expires_at is null or t.expires_at > $2::timestamptz)';

/** All tokens, newest first. */
export async function listAccessTokens(database: Queryable): Promise<readonly AccessToken[]> {
  const rows = await database.query(
    `select ${columns} from auth.pgreflect_access_tokens t order by t.created_at desc, t.id`,
  );
  return rows as unknown as readonly AccessToken[];
}

/**
 * Ends a token at once.
 *
 * @param which Its id, or the beginning of one.
 * @returns The tokens that are revoked by this call; several or none where `which` is not exactly one's, and nothing is done.
 */
export async function revokeAccessToken(
  database: Queryable,
  which: string,
  now: Date,
): Promise<readonly AccessToken[]> {
  const found = (await listAccessTokens(database)).filter(
    ({ id, revokedAt }) => revokedAt === null && id.startsWith(which.toLowerCase()),
  );
  const [only] = found;
  if (found.length !== 1 || only === undefined) return found;
  await database.query(
    'update auth.pgreflect_access_tokens set revoked_at = $2::timestamptz where id = $1 and revoked_at is null',
    [only.id, now],
  );
  return [{ ...only, revokedAt: now }];
}

/** The token that is valid now; null where there is none. */
export async function findAccessToken(database: Queryable, token: string, now: Date): Promise<AccessToken | null> {
  const [row] = await database.query(
    `select ${columns} from auth.pgreflect_access_tokens t
    where t.token_hash = $1 and ${isValid}`,
    [tokenHash(token), now],
  );
  return (row as AccessToken | undefined) ?? null;
}

/** As `findAccessToken`, by its id; until the transaction ends nobody revokes it. */
export async function lockAccessToken(database: Queryable, id: string, now: Date): Promise<AccessToken | null> {
  const [row] = await database.query(
    `select ${columns} from auth.pgreflect_access_tokens t where t.id = $1::uuid and ${isValid} for share`,
    [id, now],
  );
  return (row as AccessToken | undefined) ?? null;
}

/** Whether people can tell a token by it: one line of at most 200 characters. */
export function isTokenName(name: string): boolean {
  return name.trim() !== '' && name.length <= 200 && !/\p{Cc}/u.test(name);
}

/** Whether a token can end then. PostgreSQL's years end later than JavaScript's dates; what is further away is a slip. */
export function isTokenEnd(end: Date, now: Date): boolean {
  return end > now && end.getTime() <= Date.parse('9999-12-31');
}

/** Whether both are the same text, in a time that does not depend on where they differ. */
export function isSameToken(given: string, expected: string): boolean {
  return timingSafeEqual(tokenHash(given), tokenHash(expected));
}

function tokenHash(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
