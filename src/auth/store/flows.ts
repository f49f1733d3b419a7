/**
 * Flows: pending sign-ins, rows of `auth.flow_state`.
 *
 * In the PKCE flow of an email, the request stores a challenge and the link returns a code. Code and verifier give a
 * session, so a link opened by another person is useless to them. A sign-in at a provider is found by its state, which
 * is valid for one answer: the first answer takes and deletes the secrets.
 */

import { createHash } from 'node:crypto';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { AuthError } from '../auth-error.ts';
import { isUuid } from '../bearer.ts';
import { randomUuid } from '../random.ts';
import { sameText } from '../secrets/one-time-code.ts';
import { type Time, toTimestamp } from '../times.ts';
import type { StoreTransaction } from '../tools.ts';
import type { User } from '../user.ts';

/** The PKCE challenge of the client. */
export interface PkceChallenge {
  readonly challenge: string;
  readonly method: 's256' | 'plain';
}

/** How the user proves their identity in the flow; becomes the session's authentication method. */
export type FlowMethod = 'email/signup' | 'invite' | 'magiclink' | 'recovery' | 'email_change' | 'oauth';

/** Lifetime of a code from its issue, in milliseconds. */
export const flowLifetimeMs = 300_000;

/** SQL for the data that `withholdEntry` (entries.ts) kept for a flow `f`, as JSON: a `Withheld`, or null. */
const withheldOfFlow = `(
  select pg_catalog.json_build_object('passwordHash', e.password_hash, 'userMetadata', e.user_metadata)
  from auth.pgreflect_entries e where e.flow_id = f.id
)`;

/** The data that the verifier restores. */
export type Withheld = Pick<User, 'passwordHash' | 'userMetadata'>;

/**
 * Reads the two PKCE parameters of a request; empty and null count as absent. Null: not the PKCE flow.
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

/** Whether the verifier matches the challenge. Compares in constant time. */
export function fitsChallenge(verifier: string, { challenge, method }: PkceChallenge): boolean {
  const computed = method === 'plain' ? verifier : createHash('sha256').update(verifier).digest('base64url');
  return sameText(computed, challenge);
}

/** Stores the flow of an email, in the transaction of the request that sends the email. */
export async function createFlow(
  tx: StoreTransaction,
  flow: { readonly userId: string; readonly pkce: PkceChallenge; readonly method: FlowMethod },
): Promise<void> {
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
export interface ExchangedFlow {
  readonly userId: string;
  readonly method: string;
  readonly providerType: string;
  /** Null for none. */
  readonly providerAccessToken: string | null;
  readonly providerRefreshToken: string | null;
  /** The data that the link removed from the account until the verifier came; null for none. */
  readonly withheld: Withheld | null;
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

/** The facts of a new sign-in at a provider. */
export interface NewProviderFlow {
  readonly provider: string;
  /** Null: the redirect carries the session. */
  readonly pkce: PkceChallenge | null;
  /** Final redirect target of the browser. */
  readonly redirectTo: string;
  /** Token hash of an invitation's link; null for none. */
  readonly inviteToken: string | null;
  /** The user who gets the identity; null: a sign-in. */
  readonly linkingTargetId: string | null;
  readonly isEmailOptional: boolean;
}

/** Secrets of a sign-in until the provider's answer arrives. */
export interface ProviderSecrets {
  /** PKCE verifier for the provider. */
  readonly verifier: string;
  /** Null if no nonce was sent. */
  readonly nonce: string | null;
}

/** Stores the sign-in. @returns Its state. */
export async function createProviderFlow(
  tx: StoreTransaction,
  flow: NewProviderFlow,
  secrets: ProviderSecrets & { readonly nonce: string },
): Promise<string> {
  const [id, clientStateId] = [randomUuid(tx.random), randomUuid(tx.random)];
  await tx.query(
    `with client_state as (
      insert into auth.oauth_client_states (id, provider_type, code_verifier, created_at)
      values ($1::uuid, $2, $3, $4::timestamptz)
    ), nonce as (
      insert into auth.pgreflect_provider_nonces (client_state_id, nonce) values ($1::uuid, $13)
    )
    insert into auth.flow_state (
      id, provider_type, authentication_method, created_at, updated_at, oauth_client_state_id, auth_code,
      code_challenge_method, code_challenge, provider_access_token, provider_refresh_token, referrer, invite_token,
      linking_target_id, email_optional
    ) values (
      $5::uuid, $2, 'oauth', $4::timestamptz, $4::timestamptz, $1::uuid, $6, $7::auth.code_challenge_method, $8, '', '', $9, $10,
      $11::uuid, $12
    )`,
    [
      ...[clientStateId, flow.provider, secrets.verifier, toTimestamp(tx.clock.now()), id],
      ...[flow.pkce === null ? null : randomUuid(tx.random), flow.pkce?.method ?? null, flow.pkce?.challenge ?? null],
      ...[flow.redirectTo, flow.inviteToken, flow.linkingTargetId, flow.isEmailOptional, secrets.nonce],
    ],
  );
  return id;
}

/** A sign-in whose answer has arrived. */
export interface ProviderFlow extends Omit<NewProviderFlow, 'pkce' | 'redirectTo'> {
  readonly id: string;
  readonly isPkce: boolean;
  /** Null if another program created the row without one. */
  readonly redirectTo: string | null;
  /** Null if another program created the row without secrets. */
  readonly clientStateId: string | null;
}

/** Finds the sign-in. @throws AuthError `bad_oauth_callback`, `bad_oauth_state`, `flow_state_already_used` */
export async function findProviderFlow(database: Queryable, state: string, now: Time): Promise<ProviderFlow> {
  if (state === '') throw new AuthError('bad_oauth_callback', 'OAuth callback with missing state');
  if (!isUuid(state)) throw new AuthError('bad_oauth_state', 'OAuth callback with invalid state');
  const [row] = await database.query(
    `select f.id, f.provider_type as provider, nullif(f.code_challenge, '') is not null as "isPkce",
      nullif(f.referrer, '') as "redirectTo", nullif(f.invite_token, '') as "inviteToken",
      f.linking_target_id as "linkingTargetId", f.email_optional is true as "isEmailOptional",
      f.oauth_client_state_id as "clientStateId", f.user_id, (extract(epoch from f.created_at) * 1000)::float8 as created_at
    from auth.flow_state f where f.id = $1::uuid and f.authentication_method = 'oauth'`,
    [state],
  );
  if (row === undefined) throw new AuthError('bad_oauth_state', 'OAuth state is unknown or has been used');
  if (now > Number(row.created_at ?? 0) + flowLifetimeMs) {
    throw new AuthError('bad_oauth_state', 'OAuth state has expired');
  }
  if (row.user_id !== null) throw new AuthError('flow_state_already_used', 'OAuth state has already been used');
  const { user_id: _user, created_at: _time, ...flow } = row;
  return flow as unknown as ProviderFlow;
}

/** The secrets of a pending sign-in; null if it was answered. */
export async function readProviderSecrets(
  database: Queryable,
  { clientStateId }: ProviderFlow,
): Promise<ProviderSecrets | null> {
  const [row] = await database.query(
    `select s.code_verifier, n.nonce from auth.oauth_client_states s
    left join auth.pgreflect_provider_nonces n on n.client_state_id = s.id where s.id = $1::uuid`,
    [clientStateId],
  );
  return row === undefined ? null : { verifier: String(row.code_verifier ?? ''), nonce: row.nonce as string | null };
}

/**
 * Takes the secrets of a sign-in, once: only the first of several answers with one state succeeds.
 *
 * @throws AuthError `oauth_invalid_state`, `oauth_client_state_not_found`, `oauth_client_state_expired`.
 */
export async function takeProviderSecrets(
  tx: StoreTransaction,
  { clientStateId, provider }: ProviderFlow,
): Promise<ProviderSecrets> {
  if (clientStateId === null) throw new AuthError('oauth_invalid_state', 'The sign-in has no code verifier');
  const [row] = await tx.query(
    `with known as (select n.nonce from auth.pgreflect_provider_nonces n where n.client_state_id = $1::uuid)
    delete from auth.oauth_client_states s where s.id = $1::uuid
    returning s.code_verifier, s.provider_type, (select k.nonce from known k) as nonce,
      (extract(epoch from s.created_at) * 1000)::float8 as created_at`,
    [clientStateId],
  );
  if (row === undefined) throw new AuthError('oauth_client_state_not_found', 'OAuth state has already been used');
  if (tx.clock.now() > Number(row.created_at) + flowLifetimeMs) {
    throw new AuthError('oauth_client_state_expired', 'OAuth state has expired');
  }
  if (row.provider_type !== provider) throw new AuthError('oauth_invalid_state', 'OAuth state is of another provider');
  return { verifier: String(row.code_verifier ?? ''), nonce: row.nonce as string | null };
}

/**
 * Stores the signed-in user, for the exchange of the code.
 *
 * @param tokens The provider's tokens for the application; empty for none.
 * @returns The code for the redirect.
 * @throws AuthError `flow_state_already_used`
 */
export async function completeProviderFlow(
  tx: StoreTransaction,
  { id }: ProviderFlow,
  { userId, ...tokens }: { readonly userId: string; readonly accessToken: string; readonly refreshToken: string },
): Promise<string> {
  const [row] = await tx.query(
    `update auth.flow_state set user_id = $2::uuid, provider_access_token = $3, provider_refresh_token = $4,
      auth_code_issued_at = $5::timestamptz, updated_at = $5::timestamptz
    where id = $1::uuid and user_id is null
    returning auth_code`,
    [id, userId, tokens.accessToken, tokens.refreshToken, toTimestamp(tx.clock.now())],
  );
  if (typeof row?.auth_code === 'string') return row.auth_code;
  throw new AuthError('flow_state_already_used', 'OAuth state has already been used');
}

/** Deletes a completed sign-in. @throws AuthError `flow_state_already_used` if it was ended meanwhile. */
export async function deleteProviderFlow(database: Queryable, { id }: ProviderFlow): Promise<void> {
  const rows = await database.query('delete from auth.flow_state f where f.id = $1::uuid returning f.id', [id]);
  if (rows.length === 0) throw new AuthError('flow_state_already_used', 'OAuth state has already been used');
}
