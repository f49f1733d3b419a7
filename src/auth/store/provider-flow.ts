/**
 * Sign-ins that are under way at a provider: what the request left, found again by the state that the provider hands back.
 *
 * A state is good for one answer: the secrets that go with it are deleted by whoever asks for them first.
 */

import type { Queryable } from '../../postgres/system/queryable.ts';
import { AuthError } from '../auth-error.ts';
import { isUuid } from '../bearer.ts';
import { randomUuid } from '../random.ts';
import { type Time, toTimestamp } from '../times.ts';
import type { StoreTransaction } from '../tools.ts';
import { flowLifetimeMs, type PkceChallenge } from './pkce.ts';

/** What a sign-in is begun for. */
export interface NewProviderFlow {
  readonly provider: string;
  /** Null: the session comes with the redirect. */
  readonly pkce: PkceChallenge | null;
  /** Where the browser goes in the end. */
  readonly redirectTo: string;
  /** Hash of the link of an invitation; null for none. */
  readonly inviteToken: string | null;
  /** The user who gets the identity; null: whoever signs in. */
  readonly linkingTargetId: string | null;
  readonly isEmailOptional: boolean;
}

/** What only we know of a sign-in until its answer comes. */
export interface ProviderSecrets {
  /** Of PKCE towards the provider. */
  readonly verifier: string;
  /** Null where none was sent. */
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

/** A sign-in whose answer has come. */
export interface ProviderFlow extends Omit<NewProviderFlow, 'pkce' | 'redirectTo'> {
  readonly id: string;
  readonly isPkce: boolean;
  /** Null where the row, made by another program, has none. */
  readonly redirectTo: string | null;
  /** Null where the row, made by another program, has no secrets. */
  readonly clientStateId: string | null;
}

/** Finds the sign-in. @throws AuthError `bad_oauth_callback`, `bad_oauth_state`, `flow_state_already_used` */
export async function findProviderFlow(database: Queryable, state: string, now: Time): Promise<ProviderFlow> {
  if (state === '') throw new AuthError('bad_oauth_callback', 'OAuth callback with missing state');
  if (!isUuid(state)) throw new AuthError('bad_oauth_state', 'OAuth callback with invalid state');
  const [row] = await database.query(
    `select f.id, f.provider_type, f.user_id, f.code_challenge, f.referrer, f.invite_token, f.linking_target_id,
      f.email_optional, f.oauth_client_state_id, (extract(epoch from f.created_at) * 1000)::float8 as created_at
    from auth.flow_state f where f.id = $1::uuid and f.authentication_method = 'oauth'`,
    [state],
  );
  if (row === undefined) throw new AuthError('bad_oauth_state', 'OAuth state is unknown or has been used');
  if (now > Number(row.created_at ?? 0) + flowLifetimeMs) {
    throw new AuthError('bad_oauth_state', 'OAuth state has expired');
  }
  if (row.user_id !== null) throw new AuthError('flow_state_already_used', 'OAuth state has already been used');
  return {
    id: row.id as string,
    provider: row.provider_type as string,
    isPkce: Boolean(row.code_challenge),
    redirectTo: (row.referrer as string | null) || null,
    inviteToken: (row.invite_token as string | null) || null,
    linkingTargetId: row.linking_target_id as string | null,
    isEmailOptional: row.email_optional === true,
    clientStateId: row.oauth_client_state_id as string | null,
  };
}

/** The secrets of a sign-in that goes on; null where it has been answered. */
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
 * Hands out the secrets of a sign-in, once: of several answers with one state one gets further.
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

/** Tokens of the provider for the application; empty for none. */
export interface ProviderTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/**
 * Notes who signed in, for the exchange of the code.
 *
 * @returns The code for the redirect.
 * @throws AuthError `flow_state_already_used`
 */
export async function completeProviderFlow(
  tx: StoreTransaction,
  { id }: ProviderFlow,
  { userId, accessToken, refreshToken }: ProviderTokens & { readonly userId: string },
): Promise<string> {
  const [row] = await tx.query(
    `update auth.flow_state set user_id = $2::uuid, provider_access_token = $3, provider_refresh_token = $4,
      auth_code_issued_at = $5::timestamptz, updated_at = $5::timestamptz
    where id = $1::uuid and user_id is null
    returning auth_code`,
    [id, userId, accessToken, refreshToken, toTimestamp(tx.clock.now())],
  );
  if (typeof row?.auth_code === 'string') return row.auth_code;
  throw new AuthError('flow_state_already_used', 'OAuth state has already been used');
}

/** Forgets a sign-in that has come to its end. @throws AuthError `flow_state_already_used` where it was ended meanwhile. */
export async function deleteProviderFlow(database: Queryable, { id }: ProviderFlow): Promise<void> {
  const rows = await database.query('delete from auth.flow_state f where f.id = $1::uuid returning f.id', [id]);
  if (rows.length === 0) throw new AuthError('flow_state_already_used', 'OAuth state has already been used');
}
