/**
 * Flows: pending sign-ins, rows of `auth.flow_state`. Those at a provider are in provider-flows.ts.
 *
 * In the PKCE flow of an email, the request stores a challenge and the link returns a code. Code and verifier give a
 * session, so a link opened by another person is useless to them.
 */
import { createHash, randomUUID } from 'node:crypto';
import { sameText } from '../../shared/same-text.ts';
import { toTimestamp } from '../../shared/times.ts';
import { AuthError } from '../model/auth-error.ts';
import type { Entered } from '../model/user.ts';
import type { ExternalUser } from '../providers/external-user.ts';
import type { StoreTransaction } from './transaction.ts';

/** The PKCE challenge of the client. */
export interface PkceChallenge {
  readonly challenge: string;
  readonly method: 's256' | 'plain';
}

/** How the user proves their identity in the flow; becomes the session's authentication method. */
export type FlowMethod = 'email/signup' | 'invite' | 'magiclink' | 'recovery' | 'email_change' | 'oauth';

/** Lifetime of a code from its issue, in milliseconds. */
export const flowLifetimeMs = 300_000;

/** SQL for the data that `withholdEntry` (unverified-input.ts) kept for a flow `f`, as JSON: `Entered`, or null. */
const withheldOfFlow = `(
  select pg_catalog.json_build_object('passwordHash', e.password_hash, 'userMetadata', e.user_metadata)
  from auth.pgreflect_unverified_inputs e where e.flow_id = f.id
)`;

/** SQL for the identity that `keepIdentity` (provider-flows.ts) kept for a flow `f`; null for none. */
const identityOfFlow = `(select p.external from auth.pgreflect_pending_identities p where p.flow_id = f.id)`;

/** Reads the PKCE parameters; null: not the PKCE flow. Empty ones are absent. @throws AuthError `validation_failed` */
export function parsePkce(
  challenge: string | null | undefined,
  method: string | null | undefined,
): PkceChallenge | null {
  if (!challenge && !method) return null;
  const refuse = (message: string) => new AuthError('validation_failed', message);
  if (!challenge || !method) throw refuse('PKCE flow requires code_challenge_method and code_challenge');
  if (challenge.length < 43 || challenge.length > 128) {
    throw refuse('code challenge has to be between 43 and 128 characters');
  }
  if (!/^[A-Za-z0-9\-._~]+$/.test(challenge)) {
    throw refuse('code challenge can only contain alphanumeric characters, hyphens, periods, underscores and tildes');
  }
  const word = method.toLowerCase();
  if (word !== 's256' && word !== 'plain') throw refuse('Invalid code_challenge_method');
  return { challenge, method: word };
}

/** Whether the verifier matches the challenge. Compares in constant time. */
export function fitsChallenge(verifier: string, { challenge, method }: PkceChallenge): boolean {
  const computed = method === 'plain' ? verifier : createHash('sha256').update(verifier).digest('base64url');
  return sameText(computed, challenge);
}

/** The flow of an email. */
export interface EmailFlow {
  readonly pkce: PkceChallenge;
  readonly method: FlowMethod;
}

/** Stores the flow of an email, in the transaction of the request that sends the email. */
export async function createFlow(tx: StoreTransaction, flow: EmailFlow & { readonly userId: string }): Promise<void> {
  await tx.query(
    `insert into auth.flow_state (
      id, user_id, auth_code, code_challenge_method, code_challenge, provider_type, provider_access_token,
      provider_refresh_token, created_at, updated_at, authentication_method
    ) values ($1::uuid, $2::uuid, $3, $4::auth.code_challenge_method, $5, $6, '', '', $7::timestamptz, $7::timestamptz, $8)`,
    [
      randomUUID(),
      flow.userId,
      randomUUID(),
      flow.pkce.method,
      flow.pkce.challenge,
      flow.method === 'email/signup' ? 'email' : flow.method,
      toTimestamp(tx.clock.now()),
      flow.method,
    ],
  );
}

/**
 * Issues the code of the user's newest flow of that method after the link was opened.
 *
 * @returns The code for the redirect.
 * @throws AuthError `flow_state_not_found` (400); the token must not count as used then.
 */
export async function issueFlowCode(tx: StoreTransaction, userId: string, method: FlowMethod): Promise<string> {
  const [row] = await tx.query(
    `update auth.flow_state set auth_code_issued_at = $3::timestamptz, updated_at = $3::timestamptz
    where id = (
      select f.id from auth.flow_state f
      where f.user_id = $1::uuid and f.authentication_method = $2
      order by f.created_at desc, f.id
      limit 1
    )
    returning auth_code`,
    [userId, method, toTimestamp(tx.clock.now())],
  );
  if (typeof row?.auth_code === 'string') return row.auth_code;
  throw new AuthError('flow_state_not_found', 'No associated flow state found.', { status: 400 });
}

/** A flow whose code and verifier were valid. */
interface ExchangedFlow {
  readonly userId: string;
  readonly method: string;
  readonly providerType: string;
  /** Null for none. */
  readonly providerAccessToken: string | null;
  readonly providerRefreshToken: string | null;
  /** The data that the link removed from the account until the verifier came; null for none. */
  readonly withheld: Entered | null;
  /** The identity that the exchange links; null for none. */
  readonly linked: ExternalUser | null;
}

/**
 * Exchanges a code and deletes the flow, so only one of several concurrent exchanges succeeds. A wrong verifier rolls
 * back, so the client may try again.
 *
 * @throws AuthError `validation_failed`, `flow_state_not_found`, `flow_state_expired`, `bad_code_verifier`.
 */
export async function exchangeFlowCode(
  tx: StoreTransaction,
  given: { readonly authCode: string; readonly codeVerifier: string },
): Promise<ExchangedFlow> {
  const { authCode, codeVerifier } = given;
  if (authCode === '' || codeVerifier === '') {
    throw new AuthError('validation_failed', 'invalid request: both auth code and code verifier should be non-empty');
  }
  // Lock the user before the flow, in the same order as everywhere else. Otherwise two could deadlock.
  const locking = tx.query(
    `select u.id from auth.users u
    where u.id = (select f.user_id from auth.flow_state f where f.auth_code = $1 limit 1) for update`,
    [authCode],
  );
  const deleting = tx.query(
    `delete from auth.flow_state f where f.auth_code = $1 and f.user_id is not null
    returning f.user_id as "userId", f.authentication_method as method, f.provider_type as "providerType",
      nullif(f.provider_access_token, '') as "providerAccessToken",
      nullif(f.provider_refresh_token, '') as "providerRefreshToken", ${withheldOfFlow} as withheld,
      ${identityOfFlow} as linked,
      f.code_challenge, f.code_challenge_method::text as challenge_method,
      (extract(epoch from f.auth_code_issued_at) * 1000)::float8 as issued_at,
      (extract(epoch from f.created_at) * 1000)::float8 as created_at`,
    [authCode],
  );
  const [, [row]] = await Promise.all([locking, deleting]);
  // The code of an email's flow is valid only after the link was opened.
  const isIssued = row?.issued_at !== null || row?.method === 'oauth';
  if (row === undefined || !isIssued) throw new AuthError('flow_state_not_found');
  const { code_challenge, challenge_method, issued_at, created_at, ...exchanged } = row;
  if (tx.clock.now() > Number(issued_at ?? created_at ?? 0) + flowLifetimeMs) throw new AuthError('flow_state_expired');
  const challenge = { challenge: String(code_challenge ?? ''), method: challenge_method } as PkceChallenge;
  if (challenge.challenge === '' || !fitsChallenge(codeVerifier, challenge)) throw new AuthError('bad_code_verifier');
  return exchanged as unknown as ExchangedFlow;
}

/**
 * Ends a user's pending flows when their sessions end: unexchanged codes, and pending links of an identity. Otherwise
 * the client that started one could sign in once more.
 *
 * @param spared Flows of that method stay while their link is unopened; null: none stays.
 */
export async function endFlows(tx: StoreTransaction, userId: string, spared: FlowMethod | null = null): Promise<void> {
  // Read the column through the row's JSON: tables of earlier versions of Supabase Auth lack it, and have no linking.
  await tx.query(
    `delete from auth.flow_state f
    where (
      f.user_id = $1::uuid
      and ($3::text is null or f.authentication_method <> $3::text or f.auth_code_issued_at is not null)
    ) or (
      f.created_at >= $2::timestamptz and pg_catalog.to_jsonb(f) ->> 'linking_target_id' = $1::uuid::text
    )`,
    [userId, toTimestamp(tx.clock.now() - flowLifetimeMs), spared],
  );
}

/** Ends the user's pending links of identities. */
export async function endLinking(tx: StoreTransaction, userId: string): Promise<void> {
  // Through the row's JSON, as above.
  await tx.query(
    `delete from auth.flow_state f
    where f.created_at >= $2::timestamptz and pg_catalog.to_jsonb(f) ->> 'linking_target_id' = $1::uuid::text`,
    [userId, toTimestamp(tx.clock.now() - flowLifetimeMs)],
  );
}
