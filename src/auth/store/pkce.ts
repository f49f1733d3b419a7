/**
 * The PKCE flow of emails: the request leaves a challenge, the link gives a code, the code and the verifier of the challenge
 * give a session. Links that somebody else opens are of no use to them.
 */

import { createHash } from 'node:crypto';
import { AuthError } from '../auth-error.ts';
import { randomUuid } from '../random.ts';
import { sameText } from '../secrets/one-time-code.ts';
import { toTimestamp } from '../times.ts';
import type { StoreTransaction } from '../tools.ts';
import type { User } from '../user.ts';

/** What the client committed itself to. */
export interface PkceChallenge {
  readonly challenge: string;
  readonly method: 's256' | 'plain';
}

/** How the user will have proved to be the one; becomes the method of the session. */
export type FlowMethod = 'email/signup' | 'invite' | 'magiclink' | 'recovery' | 'email_change' | 'oauth';

/** Life of a code from its issue, in milliseconds. */
export const flowLifetimeMs = 300_000;

/** What `withholdEntry` (entries.ts) kept for a flow `f`, as JSON: a `Withheld`, or null. */
const withheldOfFlow = `(
  select pg_catalog.json_build_object('passwordHash', e.password_hash, 'userMetadata', e.user_metadata)
  from auth.pgreflect_entries e where e.flow_id = f.id
)`;

/** What the verifier gives back. */
export type Withheld = Pick<User, 'passwordHash' | 'userMetadata'>;

/**
 * Reads the two parameters of a request; empty and null count as absent. Null: not the PKCE flow.
 *
 * @throws AuthError `validation_failed`
 */
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

/** Whether the verifier is that of the challenge. Takes the same time wherever they differ. */
export function fitsChallenge(verifier: string, { challenge, method }: PkceChallenge): boolean {
  const computed = method === 'plain' ? verifier : createHash('sha256').update(verifier).digest('base64url');
  return sameText(computed, challenge);
}

/** A flow of an email. */
export interface NewFlow {
  readonly userId: string;
  readonly pkce: PkceChallenge;
  readonly method: FlowMethod;
}

/** Stores the challenge, in the transaction of the request that sends the mail. */
export async function createFlow(tx: StoreTransaction, flow: NewFlow): Promise<void> {
  await tx.query(
    `insert into auth.flow_state (
      id, user_id, auth_code, code_challenge_method, code_challenge, provider_type, provider_access_token,
      provider_refresh_token, created_at, updated_at, authentication_method
    ) values ($1::uuid, $2::uuid, $3, $4::auth.code_challenge_method, $5, $6, '', '', $7::timestamptz, $7::timestamptz, $8)`,
    [
      randomUuid(tx.random),
      flow.userId,
      randomUuid(tx.random),
      flow.pkce.method,
      flow.pkce.challenge,
      flow.method === 'email/signup' ? 'email' : flow.method,
      toTimestamp(tx.clock.now()),
      flow.method,
    ],
  );
}

/**
 * Issues the code of the user's newest flow of that method, when the link has been opened.
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

/** A flow whose code and verifier were right. */
export interface ExchangedFlow {
  readonly userId: string;
  readonly method: string;
  readonly providerType: string;
  /** Null for none. */
  readonly providerAccessToken: string | null;
  readonly providerRefreshToken: string | null;
  /** What the link took away from the account until this verifier came; null for nothing. */
  readonly withheld: Withheld | null;
}

/**
 * Exchanges a code: the flow is gone afterwards, so of several simultaneous exchanges one succeeds. A wrong verifier leaves
 * it for another try, because the transaction is rolled back.
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
  // The user before the flow, as all who lock both have them: else two of them could wait for each other.
  const locking = tx.query(
    `select u.id from auth.users u
    where u.id = (select f.user_id from auth.flow_state f where f.auth_code = $1 limit 1) for update`,
    [authCode],
  );
  const deleting = tx.query(
    `delete from auth.flow_state f where f.auth_code = $1 and f.user_id is not null
    returning f.user_id, f.code_challenge, f.code_challenge_method::text as challenge_method, f.authentication_method,
      f.provider_type, f.provider_access_token, f.provider_refresh_token,
      (extract(epoch from f.auth_code_issued_at) * 1000)::float8 as issued_at,
      (extract(epoch from f.created_at) * 1000)::float8 as created_at, ${withheldOfFlow} as withheld`,
    [authCode],
  );
  const [, [row]] = await Promise.all([locking, deleting]);
  // A code of an email that nobody has opened is known to nobody who may use it.
  const isIssued = row?.issued_at !== null || row?.authentication_method === 'oauth';
  if (row === undefined || !isIssued) throw new AuthError('flow_state_not_found');
  const since = Number(row.issued_at ?? row.created_at ?? 0);
  if (tx.clock.now() > since + flowLifetimeMs) throw new AuthError('flow_state_expired');
  const challenge = { challenge: String(row.code_challenge ?? ''), method: row.challenge_method } as PkceChallenge;
  if (challenge.challenge === '' || !fitsChallenge(codeVerifier, challenge)) throw new AuthError('bad_code_verifier');
  return {
    userId: row.user_id as string,
    method: row.authentication_method as string,
    providerType: row.provider_type as string,
    providerAccessToken: (row.provider_access_token as string | null) || null,
    providerRefreshToken: (row.provider_refresh_token as string | null) || null,
    withheld: row.withheld as Withheld | null,
  };
}

/**
 * Ends what is under way for a user when their sessions end: codes that nobody has exchanged, and sign-ins at a provider that
 * were to give them an identity. Else whoever began it would come in once more.
 *
 * @param spared Flows of that method stay while their link has not been opened; null: none does.
 */
export async function endFlows(tx: StoreTransaction, userId: string, spared: FlowMethod | null = null): Promise<void> {
  // By its name as a text: tables of earlier versions of the original have no such column, and no user links with them.
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

/** Ends the sign-ins at a provider that were to give the user an identity. */
export async function endLinking(tx: StoreTransaction, userId: string): Promise<void> {
  // By its name as a text, as above.
  await tx.query(
    `delete from auth.flow_state f
    where f.created_at >= $2::timestamptz and pg_catalog.to_jsonb(f) ->> 'linking_target_id' = $1::uuid::text`,
    [userId, toTimestamp(tx.clock.now() - flowLifetimeMs)],
  );
}
