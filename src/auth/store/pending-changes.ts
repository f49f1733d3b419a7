/** Pending changes of an address or number: which session has asked, and who gives the address up once it is proved. */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { toTimestamp } from '../../shared/times.ts';
import { nilUuid } from '../../shared/uuid.ts';
import type { User } from '../model/user.ts';
import type { StoreTransaction } from './transaction.ts';
import { findEmailOwners, findUserByPhone } from './users.ts';

/** Notes the session that asks for a change; null: a token without a session, so nothing is sent again. */
export async function noteAsker(tx: StoreTransaction, userId: string, sessionId: string | null): Promise<void> {
  await tx.query('delete from auth.pgreflect_changes c where c.user_id = $1::uuid', [userId]);
  if (sessionId === null) return;
  await tx.query('insert into auth.pgreflect_changes (user_id, session_id) values ($1::uuid, $2::uuid)', [
    userId,
    sessionId,
  ]);
}

/** Whether the session that asked for the user's pending change still exists. */
export async function hasAsker(tx: StoreTransaction, userId: string): Promise<boolean> {
  const [row] = await tx.query('select from auth.pgreflect_changes c where c.user_id = $1::uuid', [userId]);
  return row !== undefined;
}

/** An account that may keep an address which nobody has proved: an admin has entered it. */
const isAdmins = `exists (select from auth.pgreflect_unverified_inputs e where e.user_id = u.id and e.entered_by = 'admin')`;

const isVerified = `exists (
  select from auth.identities i
  where i.user_id = u.id and i.email = $1 and i.identity_data -> 'email_verified' = 'true'
)`;

const squatters = {
  email: `lower(u.email) = $1 and u.email_confirmed_at is null and not ${isVerified}`,
  // The number of an account with a proved address comes from an admin.
  phone: `u.phone = $1 and u.phone_confirmed_at is null and u.email_confirmed_at is null`,
} as const;

const released = {
  email: `email = null, email_change_token_current = ''`,
  phone: 'phone = null',
} as const;

/**
 * Whether another account keeps an address or number from the user: one that has proved it, or that an admin has entered.
 *
 * @param address Email address in lower case, or digits.
 */
export async function isAddressHeld(
  database: Queryable,
  kind: 'email' | 'phone',
  address: string,
  { id, audience }: { readonly id: string; readonly audience: string },
): Promise<boolean> {
  const owners =
    kind === 'email'
      ? await findEmailOwners(database, address, audience, id)
      : [(await findUserByPhone(database, address, audience))?.id].filter((owner) => owner !== undefined);
  if (owners.length === 0) return false;
  const [held] = await database.query(
    `select from auth.users u where u.id = any ($2::uuid[]) and ((${squatters[kind]}) is not true or ${isAdmins}) limit 1`,
    [address, owners],
  );
  return held !== undefined;
}

/**
 * Takes an address or number from the accounts that have it and never proved it, with the tokens that would prove it.
 * The user is about to prove it.
 *
 * @param address Email address in lower case, or digits.
 */
export async function releaseAddress(
  tx: StoreTransaction,
  kind: 'email' | 'phone',
  address: string,
  { id, audience }: Pick<User, 'id' | 'audience'>,
): Promise<void> {
  await tx.query(
    `with released as (
      update auth.users u set
        ${released[kind]}, confirmation_token = '', confirmation_sent_at = null, recovery_token = '',
        recovery_sent_at = null, updated_at = $4::timestamptz
      where u.instance_id = '${nilUuid}' and ${squatters[kind]} and u.aud is not distinct from $2
        and u.id <> $3::uuid and u.is_sso_user = false and not ${isAdmins}
      returning u.id
    ), tokens as (
      delete from auth.one_time_tokens t using released r
      where t.user_id = r.id and t.token_type in ('confirmation_token', 'recovery_token', 'email_change_token_current')
    )
    delete from auth.identities i using released r where i.user_id = r.id and i.provider = '${kind}'`,
    [address, audience, id, toTimestamp(tx.clock.now())],
  );
}
