/**
 * Reads and writes `auth.identities`: the ways in which a user can sign in. `email` is a generated column, made of
 * `identity_data.email`, which is therefore stored in lower case.
 */
import { randomUUID } from 'node:crypto';
import { DatabaseError } from '../../postgres/database-error.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { toTimestamp } from '../../shared/times.ts';
import { AuthError } from '../model/auth-error.ts';
import type { Metadata } from '../model/metadata.ts';
import type { Identity, User } from '../model/user.ts';
import type { StoreTransaction } from './transaction.ts';

type NewIdentity = Pick<Identity, 'userId' | 'provider' | 'providerId' | 'identityData'>;

/** The data of an email sign-up's identity. The client's metadata cannot override our values. */
export function emailIdentityData(userId: string, email: string, data: Metadata): Metadata {
  return { ...data, sub: userId, email, email_verified: false, phone_verified: false };
}

/** The data of a phone sign-up's identity. A client's email address in it would keep that from its owner. */
export function phoneIdentityData(userId: string, { email: _claimed, ...data }: Metadata): Metadata {
  return { ...data, sub: userId, email_verified: false, phone_verified: false };
}

/** Inserts an identity and returns its row id. @throws AuthError `identity_already_exists` */
export async function insertIdentity(tx: StoreTransaction, identity: NewIdentity): Promise<string> {
  const id = randomUUID();
  const { userId, provider, providerId, identityData } = identity;
  try {
    await tx.query(
      `insert into auth.identities (id, user_id, provider, provider_id, identity_data, last_sign_in_at, created_at, updated_at)
      values ($1::uuid, $2::uuid, $3, $4, $5::jsonb, $6::timestamptz, $6::timestamptz, $6::timestamptz)`,
      [id, userId, provider, providerId, JSON.stringify(withLowerCaseEmail(identityData)), toTimestamp(tx.clock.now())],
    );
  } catch (error) {
    if (error instanceof DatabaseError && error.constraint === 'identities_provider_id_provider_unique') {
      throw new AuthError('identity_already_exists', null, { cause: error });
    }
    throw error;
  }
  return id;
}

/** Replaces the data of an identity. */
export async function updateIdentityData(tx: StoreTransaction, id: string, identityData: Metadata): Promise<void> {
  await tx.query(
    'update auth.identities set identity_data = $2::jsonb, updated_at = $3::timestamptz where id = $1::uuid',
    [id, JSON.stringify(withLowerCaseEmail(identityData)), toTimestamp(tx.clock.now())],
  );
}

/** Records a sign-in through the identity. */
export async function touchIdentity(tx: StoreTransaction, id: string): Promise<void> {
  await tx.query(
    'update auth.identities set last_sign_in_at = $2::timestamptz, updated_at = $2::timestamptz where id = $1::uuid',
    [id, toTimestamp(tx.clock.now())],
  );
}

/** The user who has the identity, or null. */
export async function findIdentityOwner(
  database: Queryable,
  provider: string,
  providerId: string,
): Promise<{ readonly id: string; readonly userId: string } | null> {
  const [row] = await database.query(
    'select i.id, i.user_id from auth.identities i where i.provider = $1 and i.provider_id = $2',
    [provider, providerId],
  );
  return row === undefined ? null : { id: row.id as string, userId: row.user_id as string };
}

/** Deletes an identity. */
export async function deleteIdentity(database: Queryable, id: string): Promise<void> {
  await database.query('delete from auth.identities i where i.id = $1::uuid', [id]);
}

/** Marks the address as verified in every identity of the user that has it. */
export async function verifyIdentityEmail(tx: StoreTransaction, user: User): Promise<void> {
  if (user.email === null) return;
  await tx.query(
    `update auth.identities set identity_data = identity_data || '{"email_verified": true}', updated_at = $3::timestamptz
    where user_id = $1::uuid and email = $2`,
    [user.id, user.email.toLowerCase(), toTimestamp(tx.clock.now())],
  );
}

/** As user.sql reads it: a value that is not an object counts as empty. */
const appMetadata = `case when pg_catalog.jsonb_typeof(u.raw_app_meta_data) = 'object' then u.raw_app_meta_data else '{}' end`;

/**
 * Updates the providers in the app metadata: the provider of the oldest identity, and all of them. Changes nothing for
 * users without identities. Writes only if something differs.
 */
export async function syncProviders(tx: StoreTransaction, userId: string): Promise<void> {
  await tx.query(
    `update auth.users u set
      raw_app_meta_data = ${appMetadata} || p.metadata, updated_at = $2::timestamptz
    from (
      select pg_catalog.jsonb_build_object(
        'provider', (pg_catalog.array_agg(n.provider order by n.since, n.provider))[1],
        'providers', pg_catalog.jsonb_agg(n.provider order by n.since, n.provider)
      ) as metadata
      from (
        select i.provider, pg_catalog.min(i.created_at) as since
        from auth.identities i where i.user_id = $1::uuid group by i.provider
      ) n
      having pg_catalog.count(*) > 0
    ) p
    where u.id = $1::uuid and u.raw_app_meta_data is distinct from ${appMetadata} || p.metadata`,
    [userId, toTimestamp(tx.clock.now())],
  );
}

function withLowerCaseEmail(data: Metadata): Metadata {
  return typeof data.email === 'string' ? { ...data, email: data.email.toLowerCase() } : data;
}
