/**
 * Access tokens, for holders of one with the scope `project:operate`: list, create, revoke.
 *
 * A new token never exceeds its creator's: no further scope, no longer lifetime, no other project. It is revoked with
 * that one. Each change writes a row to the audit log.
 */
import type { AuditAction } from '../../auth/store/audit.ts';
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import type { Clock } from '../../shared/clock.ts';
import { isObject } from '../../shared/json.ts';
import { about, flag, listOf, named, objectOf, oneOf, orNull, text, type ValueOf } from '../../shared/schema.ts';
import { fixedTokenId, type ManagementCaller } from '../management-caller.ts';
import { ManagementError } from '../management-error.ts';
import { describeUnknown } from '../validate-changes.ts';
import {
  type AccessToken,
  accessScopes,
  createAccessToken,
  isTokenEnd,
  isTokenName,
  listAccessTokens,
  lockAccessToken,
  readTokenEnd,
  revokeAccessToken,
  usualScopes,
} from './access-tokens.ts';

const time = about(text, { format: 'date-time' });
const name = about(text, { description: 'One line.', minLength: 1, maxLength: 200 });
const scopes = about(listOf(oneOf(...accessScopes)), { minItems: 1 });
const end = about(orNull(time), 'Null: never.');

const fields = {
  id: text,
  name,
  scopes,
  projectRef: orNull(about(text, 'Null: every project of this database.')),
  createdBy: orNull(about(text, 'Id of the token it was created with, `fixed` for --access-token; null: the command.')),
  createdAt: time,
  expiresAt: end,
  revokedAt: orNull(time),
  isCurrent: about(flag, 'Whether the request was sent with it.'),
};

/** Schema of `ListedToken`. */
export const listedToken = named('AccessToken', objectOf(fields));

/** A new token and its text, which is not shown again. */
export const createdToken = named(
  'CreatedAccessToken',
  objectOf({ token: about(text, 'Shown only here.'), ...fields }),
);

const wantedFields = { name, scopes, expiresAt: end };

/** The values of a new token. */
export const wantedToken = named('NewAccessToken', about(objectOf(wantedFields), { additionalProperties: false }));

/** A token as it is listed. */
export type ListedToken = ValueOf<typeof listedToken>;
type CreatedToken = ValueOf<typeof createdToken>;
type Wanted = Pick<AccessToken, 'name' | 'scopes' | 'expiresAt'>;

/** What the requests need. */
export interface TokenRequest {
  readonly pool: SystemPool;
  readonly clock: Clock;
  readonly ref: string;
  readonly config: AuthConfig;
  readonly caller: ManagementCaller;
  readonly audit: AuditToken;
}

/** Writes a row of the audit log about an operator, in the transaction `tx`. */
export type AuditToken = (
  tx: Queryable,
  request: TokenRequest,
  action: AuditAction,
  traits: Readonly<Record<string, unknown>>,
) => Promise<void>;

/** The tokens of the project, valid or not, newest first. */
export async function listTokens({ pool, ref, caller }: TokenRequest): Promise<readonly ListedToken[]> {
  const all = await listAccessTokens(pool);
  return all.filter((token) => isFor(token, ref)).map((token) => present(token, caller));
}

/** @throws ManagementError `invalid_body`, `validation_failed`, `unauthorized`, `forbidden` */
export async function createToken(request: TokenRequest, body: unknown): Promise<CreatedToken> {
  const { pool, clock, ref, caller, audit } = request;
  const createdAt = new Date(clock.now());
  const wanted = readWanted(body, createdAt);
  return pool.transaction(async (tx) => {
    refuseMore(wanted, await ownRights(tx, caller, createdAt));
    const { token, stored } = await createAccessToken(tx, {
      ...wanted,
      projectRef: ref,
      createdBy: caller.tokenId,
      createdAt,
    });
    await audit(tx, request, 'access_token_created', { created_token_id: stored.id, ...nameOf(stored) });
    return { token, ...present(stored, caller) };
  });
}

/** @throws ManagementError `not_found`, `forbidden` */
export async function revokeToken(request: TokenRequest, id: string): Promise<ListedToken> {
  const { pool, clock, ref, caller, audit } = request;
  return pool.transaction(async (tx) => {
    const known = (await listAccessTokens(tx)).find((token) => token.id === id && isFor(token, ref));
    if (known === undefined) throw new ManagementError('not_found', 'There is no such access token');
    if (known.projectRef === null && caller.projectRef !== null)
      throw new ManagementError('forbidden', 'This token is valid for every project of the database, yours is not');
    const revoked = await revokeAccessToken(tx, id, new Date(clock.now()));
    for (const token of revoked) {
      await audit(tx, request, 'access_token_revoked', { revoked_token_id: token.id, ...nameOf(token) });
    }
    return present(revoked.find((token) => token.id === id) ?? known, caller);
  });
}

function isFor({ projectRef }: AccessToken, ref: string): boolean {
  return projectRef === null || projectRef === ref;
}

function nameOf({ name, scopes }: AccessToken): Pick<AccessToken, 'name' | 'scopes'> {
  return { name, scopes };
}

function present(token: AccessToken, { tokenId }: ManagementCaller): ListedToken {
  const { createdAt, expiresAt, revokedAt } = token;
  return {
    id: token.id,
    ...nameOf(token),
    projectRef: token.projectRef,
    createdBy: token.createdBy,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
    isCurrent: token.id === tokenId,
  };
}

/** Reads the caller's token again and locks it: a token that is being revoked must not create another. */
async function ownRights(
  tx: Queryable,
  { tokenId }: ManagementCaller,
  now: Date,
): Promise<Pick<AccessToken, 'scopes' | 'expiresAt'>> {
  if (tokenId === fixedTokenId) return { scopes: usualScopes, expiresAt: null };
  const own = await lockAccessToken(tx, tokenId, now);
  if (own === null) throw new ManagementError('unauthorized');
  return own;
}

function refuseMore({ scopes, expiresAt }: Wanted, own: Pick<AccessToken, 'scopes' | 'expiresAt'>): void {
  const lacking = scopes.filter((scope) => !own.scopes.includes(scope));
  if (lacking.length > 0)
    throw new ManagementError('forbidden', `Your access token cannot give what it lacks: ${lacking.join(', ')}`);
  if (own.expiresAt !== null && (expiresAt === null || expiresAt > own.expiresAt))
    throw new ManagementError(
      'forbidden',
      `expiresAt must not be after the end of yours, ${own.expiresAt.toISOString()}`,
    );
}

/** @throws ManagementError `invalid_body`, `validation_failed` with all problems */
function readWanted(body: unknown, now: Date): Wanted {
  if (!isObject(body)) throw new ManagementError('invalid_body');
  const { name, scopes, expiresAt, ...others } = body;
  const given = Array.isArray(scopes) ? scopes : [];
  const expiry = typeof expiresAt === 'string' && expiresAt.includes('T') ? readTokenEnd(expiresAt) : null;
  const problems = [
    ...describeUnknown(Object.keys(others), Object.keys(wantedFields)),
    ...(typeof name === 'string' && isTokenName(name) ? [] : ['name must be one line of 1 to 200 characters']),
    ...(given.length > 0 && given.every((scope) => accessScopes.includes(scope))
      ? []
      : [`scopes must be a list of ${accessScopes.join(', ')}`]),
    ...(expiresAt === null || (expiry !== null && isTokenEnd(expiry, now))
      ? []
      : ['expiresAt must be a time in the future such as 2030-01-31T12:00:00Z, or null']),
  ];
  if (problems.length > 0) throw new ManagementError('validation_failed', problems.join('; '));
  return { name: name as string, scopes: accessScopes.filter((scope) => given.includes(scope)), expiresAt: expiry };
}
