/**
 * Reads and writes `auth.users`, so that the table stays usable for Supabase Auth: the nil instance id on every row,
 * null instead of an empty address, empty text instead of a null token, generated columns never written.
 *
 * Functions take the transaction they belong to. Unique indexes, not look-ups, decide between two requests for the same
 * address: a violation becomes `email_exists` or `phone_exists`.
 */
import { randomUUID } from 'node:crypto';
import { DatabaseError } from '../../postgres/database-error.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { loadSqlFile } from '../../postgres/system/sql-file.ts';
import { type Time, toTimestamp } from '../../shared/times.ts';
import { nilUuid } from '../../shared/uuid.ts';
import { AuthError } from '../model/auth-error.ts';
import type { User } from '../model/user.ts';
import type { StoreTransaction } from './transaction.ts';

/** Selects users as `u`, up to the `where`; `toUser` reads a row as JSON. */
export const selectUser = loadSqlFile('auth/user.sql');

const byId = `u.id = $1::uuid and u.instance_id = '${nilUuid}'`;
const userById = asJson(`${selectUser} where ${byId}`);
const byEmail = `u.instance_id = '${nilUuid}' and lower(u.email) = $1 and u.aud = $2 and u.is_sso_user = false`;
const userByEmail = asJson(`${selectUser} where ${byEmail} limit 1`);
const userByPhone = asJson(`${selectUser}
  where u.instance_id = '${nilUuid}' and u.phone = $1 and u.aud = $2 and u.is_sso_user = false limit 1`);

/** One JSON text is faster to read than forty columns. */
function asJson(select: string): string {
  return `select pg_catalog.row_to_json(x) as "user" from (${select}) x`;
}

/** Reads the JSON of a row of `selectUser`; null stays null. */
export function toUser(json: unknown): User | null {
  if (json === null || json === undefined) return null;
  const user = json as User;
  // PostgreSQL writes `infinity` as a string, because JSON has no infinite number.
  return Object.freeze(
    typeof user.bannedUntil === 'string' ? { ...user, bannedUntil: Number(user.bannedUntil) } : user,
  );
}

/** The user, or null. @param id A UUID; anything else is refused by PostgreSQL. */
export async function loadUser(database: Queryable, id: string): Promise<User | null> {
  return readUser(await database.query(userById, [id]));
}

/** The user with the changes of this transaction. @throws AuthError `user_not_found` if deleted meanwhile. */
export async function reloadUser(tx: Queryable, id: string): Promise<User> {
  const user = await loadUser(tx, id);
  if (user === null) throw new AuthError('user_not_found');
  return user;
}

/** As `loadUser`, and locks the row for this transaction. */
export function lockUser(database: Queryable, id: string): Promise<User | null> {
  return lockAndRead(database, `select u.id from auth.users u where ${byId} for update`, userById, [id]);
}

/** As `findUserByEmail`, with the lock of `lockUser`. */
export function lockUserByEmail(database: Queryable, email: string, audience: string): Promise<User | null> {
  const lock = `select u.id from auth.users u where ${byEmail} limit 1 for update`;
  return lockAndRead(database, lock, userByEmail, [email.toLowerCase(), audience]);
}

/** Two statements in one round trip: values read by the locking statement would be as old as the wait for the lock. */
async function lockAndRead(
  database: Queryable,
  lock: string,
  read: string,
  values: readonly string[],
): Promise<User | null> {
  const [held, rows] = await Promise.all([database.query(lock, values), database.query(read, values)]);
  const user = readUser(rows);
  // During the wait, the address may have moved to another user, who is not locked.
  return user !== null && user.id === held[0]?.id ? user : null;
}

/** The user with that address, whatever its case, or null. */
export async function findUserByEmail(database: Queryable, email: string, audience: string): Promise<User | null> {
  return readUser(await database.query(userByEmail, [email.toLowerCase(), audience]));
}

/** The user with that number (digits), or null. */
export async function findUserByPhone(database: Queryable, phone: string, audience: string): Promise<User | null> {
  return readUser(await database.query(userByPhone, [phone, audience]));
}

function readUser(rows: readonly Record<string, unknown>[]): User | null {
  return toUser(rows[0]?.user);
}

/** Owners of the address `$1` in the audience `$2`, except the user `$3`: who has it first, then the oldest. */
const emailOwners = `select o.id from (
    select u.id, 0 as rank, u.created_at from auth.users u where ${byEmail}
    union all
    select u.id, 1, u.created_at from auth.identities i join auth.users u on u.id = i.user_id
    where i.email = $1 and i.identity_data -> 'email_verified' = 'true' and u.instance_id = '${nilUuid}' and u.aud = $2
      and u.is_sso_user = false
  ) o
  where o.id is distinct from $3::uuid
  group by o.id order by pg_catalog.min(o.rank), pg_catalog.min(o.created_at), o.id limit 2`;

/**
 * The ids of users who own an address, two at most: as their address, or through an identity for which it was proved.
 * An unverified address of an identity does not count; it would keep the address from its owner.
 *
 * @param exceptUserId A user to leave out; null for none.
 */
export async function findEmailOwners(
  database: Queryable,
  email: string,
  audience: string,
  exceptUserId: string | null = null,
): Promise<readonly string[]> {
  const rows = await database.query(emailOwners, [email.toLowerCase(), audience, exceptUserId]);
  return rows.map(({ id }) => id as string);
}

/** Whether another user of the audience owns the address. */
export async function isEmailTaken(...asked: Parameters<typeof findEmailOwners>): Promise<boolean> {
  return (await findEmailOwners(...asked)).length > 0;
}

/** The values of a new user that have no default. */
export interface NewUser extends Pick<User, 'email' | 'phone' | 'passwordHash' | 'appMetadata' | 'userMetadata'> {
  /** Default: a random id. */
  readonly id?: string;
  readonly audience: string;
  readonly role: string;
  readonly isAnonymous?: boolean;
}

/**
 * Inserts a user without identities and without confirmation.
 *
 * @returns The inserted user.
 * @throws AuthError `email_exists`, `phone_exists`, or `conflict` (422) if the id is taken.
 */
export async function insertUser(tx: StoreTransaction, user: NewUser): Promise<User> {
  const id = user.id ?? randomUUID();
  await explain(
    tx.query(
      `insert into auth.users (
        instance_id, id, aud, role, email, phone, encrypted_password, raw_app_meta_data, raw_user_meta_data,
        is_super_admin, is_sso_user, is_anonymous, created_at, updated_at,
        confirmation_token, recovery_token, email_change_token_new, email_change_token_current, email_change,
        phone_change, phone_change_token, reauthentication_token, email_change_confirm_status
      ) values (
        '${nilUuid}', $1::uuid, $2, $3, $4, $5, coalesce($6, ''), $7::jsonb, $8::jsonb, false, false, $9, $10::timestamptz,
        $10::timestamptz, '', '', '', '', '', '', '', '', 0
      )`,
      [
        id,
        user.audience,
        user.role,
        user.email,
        user.phone,
        user.passwordHash,
        JSON.stringify(user.appMetadata),
        JSON.stringify(user.userMetadata),
        user.isAnonymous ?? false,
        toTimestamp(tx.clock.now()),
      ],
    ),
    'saving new user',
  );
  return reloadUser(tx, id);
}

/** Columns that requests write. */
export const userColumns = {
  audience: 'aud',
  role: 'role',
  email: 'email',
  passwordHash: 'encrypted_password',
  emailConfirmedAt: 'email_confirmed_at',
  invitedAt: 'invited_at',
  confirmationToken: 'confirmation_token',
  confirmationSentAt: 'confirmation_sent_at',
  recoveryToken: 'recovery_token',
  recoverySentAt: 'recovery_sent_at',
  emailChangeTokenNew: 'email_change_token_new',
  emailChangeTokenCurrent: 'email_change_token_current',
  emailChange: 'email_change',
  emailChangeSentAt: 'email_change_sent_at',
  emailChangeConfirmStatus: 'email_change_confirm_status',
  lastSignInAt: 'last_sign_in_at',
  appMetadata: 'raw_app_meta_data',
  userMetadata: 'raw_user_meta_data',
  phone: 'phone',
  phoneConfirmedAt: 'phone_confirmed_at',
  phoneChange: 'phone_change',
  phoneChangeToken: 'phone_change_token',
  phoneChangeSentAt: 'phone_change_sent_at',
  bannedUntil: 'banned_until',
  reauthenticationToken: 'reauthentication_token',
  reauthenticationSentAt: 'reauthentication_sent_at',
  deletedAt: 'deleted_at',
  isAnonymous: 'is_anonymous',
} as const satisfies Partial<Record<keyof User, string>>;

/** Absent fields stay; null clears where the type allows it. */
type UserChanges = Partial<Pick<User, keyof typeof userColumns>>;

/** Writes the given columns and `updated_at`. @throws AuthError `email_exists`, `phone_exists`. */
export async function updateUser(tx: StoreTransaction, id: string, changes: UserChanges): Promise<void> {
  const values: unknown[] = [id, toTimestamp(tx.clock.now())];
  // Column names come only from the table above; keys of `changes` select among them.
  const assignments = (Object.keys(userColumns) as (keyof UserChanges)[]).flatMap((name) => {
    const value = changes[name];
    if (value === undefined) return [];
    const column = userColumns[name];
    values.push(toParameter(column, value));
    return [`${column} = $${values.length}`];
  });
  const text = `update auth.users set ${[...assignments, 'updated_at = $2::timestamptz'].join(', ')}
    where id = $1::uuid and instance_id = '${nilUuid}'`;
  await explain(tx.query(text, values), 'updating user');
}

function toParameter(column: string, value: unknown): unknown {
  if (column.startsWith('raw_')) return JSON.stringify(value);
  return /_(at|until)$/.test(column) ? toTimestamp(value as Time | null) : value;
}

/** Deletes the row with its identities, sessions, factors and tokens. @returns False if there was none. */
export async function deleteUser(database: Queryable, id: string): Promise<boolean> {
  const rows = await database.query(
    `delete from auth.users u where u.id = $1::uuid and u.instance_id = '${nilUuid}' returning u.id`,
    [id],
  );
  return rows.length > 0;
}

/** Of a trigger whose text cannot work, or not with these values. */
const brokenFunction = /^(?:42|22(?!001|021|P05)|P000[234])/;

async function explain<T>(statement: Promise<T>, action: string): Promise<T> {
  try {
    return await statement;
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    const details = { cause: error };
    // The words that people search for. What a trigger raises, and its constraints, are told as they are.
    if (error.ofFunction && brokenFunction.test(error.sqlstate ?? '')) {
      throw new AuthError('unexpected_failure', `Database error ${action}`, details);
    }
    if (error.sqlstate !== '23505' || error.table !== 'users') throw error;
    if (error.constraint === 'users_email_partial_key') throw new AuthError('email_exists', null, details);
    if (error.constraint === 'users_phone_key') throw new AuthError('phone_exists', null, details);
    if (error.constraint === 'users_pkey') {
      throw new AuthError('conflict', 'A user with this id exists', { ...details, status: 422 });
    }
    throw error;
  }
}

/** Locks and reads the user for this transaction. @throws AuthError `conflict` if deleted meanwhile. */
export async function lockKnownUser(tx: Queryable, { id }: Pick<User, 'id'>): Promise<User> {
  const user = await lockUser(tx, id);
  if (user === null) throw new AuthError('conflict', 'The user has just been deleted');
  return user;
}

/** The user with that address, otherwise the oldest with such an identity, or null. */
export async function findEmailOwner(tx: Queryable, email: string, audience: string): Promise<User | null> {
  const [id] = await findEmailOwners(tx, email, audience);
  return id === undefined ? null : loadUser(tx, id);
}
