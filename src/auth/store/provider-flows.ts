/**
 * Pending sign-ins at a provider, rows of `auth.flow_state` and `auth.oauth_client_states`.
 *
 * A sign-in is found by its state, which is valid for one answer: the first answer takes and deletes the secrets.
 */
import { randomUUID } from 'node:crypto';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { type Time, toTimestamp } from '../../shared/times.ts';
import { isUuid } from '../../shared/uuid.ts';
import { AuthError } from '../model/auth-error.ts';
import type { ExternalUser } from '../providers/external-user.ts';
import { flowLifetimeMs, type PkceChallenge } from './flows.ts';
import type { StoreTransaction } from './transaction.ts';

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
  const [id, clientStateId] = [randomUUID(), randomUUID()];
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
      clientStateId,
      flow.provider,
      secrets.verifier,
      toTimestamp(tx.clock.now()),
      id,
      flow.pkce === null ? null : randomUUID(),
      flow.pkce?.method ?? null,
      flow.pkce?.challenge ?? null,
      flow.redirectTo,
      flow.inviteToken,
      flow.linkingTargetId,
      flow.isEmailOptional,
      secrets.nonce,
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
  if (state === '') throw new AuthError('bad_oauth_callback', 'OAuth state parameter missing');
  if (!isUuid(state)) throw new AuthError('bad_oauth_state', 'OAuth state parameter is invalid');
  const [row] = await database.query(
    `select f.id, f.provider_type as provider, nullif(f.code_challenge, '') is not null as "isPkce",
      nullif(f.referrer, '') as "redirectTo", nullif(f.invite_token, '') as "inviteToken",
      f.linking_target_id as "linkingTargetId", f.email_optional is true as "isEmailOptional",
      f.oauth_client_state_id as "clientStateId", f.user_id, (extract(epoch from f.created_at) * 1000)::float8 as created_at
    from auth.flow_state f where f.id = $1::uuid and f.authentication_method = 'oauth'`,
    [state],
  );
  if (row === undefined) throw new AuthError('bad_oauth_state', 'OAuth state not found or expired');
  if (now > Number(row.created_at ?? 0) + flowLifetimeMs) {
    throw new AuthError('bad_oauth_state', 'OAuth state has expired');
  }
  if (row.user_id !== null) throw new AuthError('flow_state_already_used', 'State has already been used');
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
  if (clientStateId === null) throw new AuthError('oauth_invalid_state', 'OAuth PKCE code verifier missing');
  const [row] = await tx.query(
    `with known as (select n.nonce from auth.pgreflect_provider_nonces n where n.client_state_id = $1::uuid)
    delete from auth.oauth_client_states s where s.id = $1::uuid
    returning s.code_verifier, s.provider_type, (select k.nonce from known k) as nonce,
      (extract(epoch from s.created_at) * 1000)::float8 as created_at`,
    [clientStateId],
  );
  if (row === undefined) throw new AuthError('oauth_client_state_not_found', 'OAuth state not found');
  if (tx.clock.now() > Number(row.created_at) + flowLifetimeMs) {
    throw new AuthError('oauth_client_state_expired', 'OAuth state expired');
  }
  if (row.provider_type !== provider) throw new AuthError('oauth_invalid_state', 'OAuth provider mismatch');
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
  throw new AuthError('flow_state_already_used', 'State has already been used');
}

/** Keeps the identity until the code is exchanged. It is deleted with the sign-in. */
export async function keepIdentity(tx: StoreTransaction, { id }: ProviderFlow, external: ExternalUser): Promise<void> {
  await tx.query('insert into auth.pgreflect_pending_identities (flow_id, external) values ($1::uuid, $2::jsonb)', [
    id,
    JSON.stringify(external),
  ]);
}

/** Whether the exchange of a code links an identity. */
export async function linksIdentity(database: Queryable, authCode: string): Promise<boolean> {
  const rows = await database.query(
    `select from auth.pgreflect_pending_identities p join auth.flow_state f on f.id = p.flow_id where f.auth_code = $1`,
    [authCode],
  );
  return rows.length > 0;
}

/** Deletes a completed sign-in. @throws AuthError `flow_state_already_used` if it was ended meanwhile. */
export async function deleteProviderFlow(database: Queryable, { id }: ProviderFlow): Promise<void> {
  const rows = await database.query('delete from auth.flow_state f where f.id = $1::uuid returning f.id', [id]);
  if (rows.length === 0) throw new AuthError('flow_state_already_used', 'State has already been used');
}
