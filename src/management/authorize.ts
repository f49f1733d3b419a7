/** Who sends a request to the management API, by its access token. */
import { DatabaseError, isMissingTable } from '../postgres/database-error.ts';
import { PublicError } from '../shared/errors.ts';
import { sameText } from '../shared/same-text.ts';
import type { ManagedProject } from './managed-project.ts';
import { fixedTokenId, type ManagementCaller } from './management-caller.ts';
import { ManagementError } from './management-error.ts';
import { findAccessToken, usualScopes } from './tokens/access-tokens.ts';

/** Whose token it is, and where the request comes from. */
interface Bearer {
  /** Null or empty without one. */
  readonly token: string | null;
  /** What unknown tokens are limited for: the client's network. */
  readonly from: string;
}

/** Checks ref, token and project, in this order. @throws ManagementError, or DatabaseError if it cannot be checked. */
export async function authorizeCaller(
  project: ManagedProject,
  ref: string,
  { token, from }: Bearer,
): Promise<ManagementCaller> {
  assertRef(ref);
  if (!token) throw new ManagementError('unauthorized');
  const caller = await findCaller(project, token, from).catch(async (error) => {
    if (!(error instanceof DatabaseError) || error.kind !== 'statement') throw error;
    // A database without our tables has no project to manage.
    if (isMissingTable(error) || !(await project.pool.isOurs())) throw new ManagementError('project_not_found');
    throw error;
  });
  if (caller === null) throw new ManagementError('unauthorized');
  await assertProject(project, ref);
  if (caller.projectRef !== null && caller.projectRef !== ref) throw new ManagementError('forbidden');
  return caller;
}

function assertRef(ref: string): void {
  if (!/^[a-z0-9]{20}$/.test(ref)) throw new ManagementError('invalid_ref');
}

/** Whether this is an access token of this project. @throws PublicError `UNAVAILABLE` if it cannot be checked. */
export async function isProjectToken(project: ManagedProject, bearer: Bearer): Promise<boolean> {
  return (await projectCaller(project, bearer)) !== null;
}

async function projectCaller(project: ManagedProject, bearer: Bearer): Promise<ManagementCaller | null> {
  try {
    return await authorizeCaller(project, await project.ref(), bearer);
  } catch (cause) {
    if (cause instanceof ManagementError && cause.status < 500) return null;
    throw new PublicError('UNAVAILABLE', 'The database is not responding.', { cause });
  }
}

/** Whether the token may read schemas of this project. @throws PublicError `UNAVAILABLE` if it cannot be checked. */
export async function mayReadSchemas(project: ManagedProject, bearer: Bearer): Promise<boolean> {
  const caller = await projectCaller(project, bearer);
  return caller?.scopes.some((scope) => scope === 'project:read' || scope === 'project:operate') ?? false;
}

/**
 * Whether the token may read emails, whose links and codes sign in: it can become every user anyway.
 *
 * @throws PublicError `UNAVAILABLE` if it cannot be checked.
 */
export async function mayReadEmails(project: ManagedProject, bearer: Bearer): Promise<boolean> {
  const caller = await projectCaller(project, bearer);
  return caller?.scopes.some((scope) => scope === 'auth_config:write' || scope === 'project:operate') ?? false;
}

/** @throws ManagementError `invalid_ref`, `project_not_found` */
export async function assertProject({ ref: ownRef, pool }: ManagedProject, ref: string): Promise<void> {
  assertRef(ref);
  if (ref !== (await ownRef()) || !(await pool.isOurs())) throw new ManagementError('project_not_found');
}

async function findCaller(
  { pool, accessToken: readFixed, clock, unknownTokens }: ManagedProject,
  token: string,
  from: string,
): Promise<ManagementCaller | null> {
  const accessToken = readFixed();
  if (accessToken !== null && sameText(token, accessToken)) {
    return {
      tokenId: fixedTokenId,
      by: 'the access token of the project (--access-token)',
      scopes: usualScopes,
      projectRef: null,
    };
  }
  const waitMs = unknownTokens.waitMs(token, from);
  if (waitMs !== null) {
    const message = 'Rate limit exceeded: too many requests with unknown access tokens (--management-rate-limit)';
    throw new ManagementError('rate_limited', message, { retryAfterSeconds: Math.ceil(waitMs / 1000) });
  }
  const found = await findAccessToken(pool, token, new Date(clock.now()));
  unknownTokens.note(token, from, found !== null);
  if (found === null) return null;
  const { id, name, scopes, projectRef } = found;
  return { tokenId: id, by: `${name} (${id})`, scopes, projectRef };
}
