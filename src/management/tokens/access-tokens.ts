/**
 * Access tokens of the management API: created by `pgreflect tokens` and by operators, checked at every request, stored
 * as SHA-256 hashes.
 *
 * The hash needs no salt or slow function, because tokens are random.
 */
import { hash, randomBytes, randomUUID } from 'node:crypto';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { accessTokenPrefix } from '../../shared/bearer-token.ts';

/** The scopes that the token of the options has, and the token for the studio: all but SQL. */
export const usualScopes = ['auth_config:read', 'auth_config:write', 'project:read', 'project:operate'] as const;

/** The scopes of tokens. */
export const accessScopes = [...usualScopes, 'database:write'] as const;

/** One of the scopes. */
export type AccessScope = (typeof accessScopes)[number];

/** Creates a token for all pages of the studio, which ends: the next one is as easily made. Its type is the text itself, by which the studio is checked. */
export const operatorTokenCommand =
  `pgreflect tokens create --scope ${usualScopes.join(',') as Joined<typeof usualScopes>} --expires 12h` as const;

type Joined<Names extends readonly string[]> = Names extends readonly [
  infer First extends string,
  ...infer Others extends readonly string[],
]
  ? Others extends readonly []
    ? First
    : `${First},${Joined<Others>}`
  : '';

/** Default scopes: all that Supabase's programs know. */
export const defaultScopes: readonly AccessScope[] = ['auth_config:read', 'auth_config:write'];

/** A listed token, without its text, which is shown only once. */
export interface AccessToken {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly AccessScope[];
  /** Null: valid for every project of this database. */
  readonly projectRef: string | null;
  /** Id of the token that it was made with; it ends with that one. Null: the command. */
  readonly createdBy: string | null;
  readonly createdAt: Date;
  /** Null: never. */
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

/** The values of a new token. */
type NewAccessToken = Pick<AccessToken, 'name' | 'scopes' | 'projectRef' | 'createdBy' | 'createdAt' | 'expiresAt'>;

/** A new token in the format that Supabase's programs accept. */
export function makeAccessToken(): string {
  return `${accessTokenPrefix}${randomBytes(20).toString('hex')}`;
}

/** Creates a token. @returns The token, which is shown once, and its stored form. */
export async function createAccessToken(
  database: Queryable,
  wanted: NewAccessToken,
): Promise<{ readonly token: string; readonly stored: AccessToken }> {
  const token = makeAccessToken();
  const stored: AccessToken = { ...wanted, id: randomUUID(), revokedAt: null };
  const { id, name, scopes, projectRef, createdBy, createdAt, expiresAt } = stored;
  await database.query(
    `insert into auth.pgreflect_access_tokens
      (id, name, token_hash, scopes, project_ref, created_by, created_at, expires_at)
    values ($1, $2, $3, $4::text[], $5, $6, $7::timestamptz, $8::timestamptz)`,
    [id, name, tokenHash(token), scopes, projectRef, createdBy, createdAt, expiresAt],
  );
  return { token, stored };
}

/** Rows are `AccessToken`s. */
const columns = `t.id, t.name, t.scopes, t.project_ref as "projectRef", t.created_by as "createdBy",
  t.created_at as "createdAt", t.expires_at as "expiresAt", t.revoked_at as "revokedAt"`;

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
 * Revokes a token with all that were made with it, and with those, and so on.
 *
 * @param tx A transaction. Each token is locked before those made with it are looked up, so one that is just being
 *   made (`lockAccessToken`) is found, too.
 * @param id Of the token; `fixedTokenId` for all that were made with the token of the options.
 * @returns The revoked tokens, the one of `id` first; none if it is not valid.
 */
export async function revokeAccessToken(tx: Queryable, id: string, now: Date): Promise<readonly AccessToken[]> {
  const revoke = async (condition: string, value: unknown) => {
    const rows = await tx.query(
      `update auth.pgreflect_access_tokens t set revoked_at = $2::timestamptz
      where ${condition} and t.revoked_at is null returning ${columns}`,
      [value, now],
    );
    return rows as unknown as readonly AccessToken[];
  };
  const revoked = [...(await revoke('t.id::text = $1', id))];
  for (let makers = [id]; makers.length > 0; ) {
    const made = await revoke('t.created_by = any ($1::text[])', makers);
    revoked.push(...made);
    makers = made.map((token) => token.id);
  }
  return revoked;
}

/** The valid token; null if there is none. */
export async function findAccessToken(database: Queryable, token: string, now: Date): Promise<AccessToken | null> {
  const [row] = await database.query(
    `select ${columns} from auth.pgreflect_access_tokens t
    where t.token_hash = $1 and ${isValid}`,
    [tokenHash(token), now],
  );
  return (row as AccessToken | undefined) ?? null;
}

/** As `findAccessToken`, by id; locks the row, so that it cannot be revoked before the transaction ends. */
export async function lockAccessToken(database: Queryable, id: string, now: Date): Promise<AccessToken | null> {
  const [row] = await database.query(
    `select ${columns} from auth.pgreflect_access_tokens t where t.id = $1::uuid and ${isValid} for share`,
    [id, now],
  );
  return (row as AccessToken | undefined) ?? null;
}

/** Whether a name is valid: one line of at most 200 characters. */
export function isTokenName(name: string): boolean {
  return name.trim() !== '' && name.length <= 200 && !/\p{Cc}/u.test(name);
}

/** Reads an expiry date, with or without a time; null: there is no such day, which JavaScript would take for one of the next month. */
export function readTokenEnd(text: string): Date | null {
  const [, day] = /^(\d{4}-\d{2}-\d{2})(T[\d:.]+(Z|[+-]\d{2}:\d{2}))?$/.exec(text) ?? [];
  if (day === undefined || Number.isNaN(Date.parse(day))) return null;
  return new Date(day).toISOString().startsWith(day) ? new Date(text) : null;
}

/** Whether an expiry date is valid. Years beyond PostgreSQL's or JavaScript's range are a mistake. */
export function isTokenEnd(end: Date, now: Date): boolean {
  return end > now && end.getTime() <= Date.parse('9999-12-31');
}

function tokenHash(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
