/**
 * Records who entered the data of an unproved account: which proof of the address keeps the data. No row: none does.
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import type { User } from '../user.ts';
import type { FlowMethod } from './flows.ts';

/** `code`: the code of the sign-up email, or the PKCE verifier of the sign-up. `admin`: every proof, an admin entered it. */
type KeptBy = 'code' | 'admin';

/** Stores who entered the data of an account without a proved address. */
export async function noteEntry(database: Queryable, userId: string, keptBy: KeptBy): Promise<void> {
  await database.query(
    `insert into auth.pgreflect_entries (user_id, kept_by) values ($1::uuid, $2)
    on conflict (user_id) do update set kept_by = excluded.kept_by, flow_id = null, password_hash = null, user_metadata = null`,
    [userId, keptBy],
  );
}

/**
 * Removes the entry after a second sign-up with the address: the data may be of either person. An admin's entry stays.
 */
export async function contestEntry(database: Queryable, userId: string): Promise<void> {
  await database.query(`delete from auth.pgreflect_entries e where e.user_id = $1::uuid and e.kept_by = 'code'`, [
    userId,
  ]);
}

/** The proof that keeps the account's data; null: none does. */
export async function readEntry(database: Queryable, userId: string): Promise<KeptBy | null> {
  const [row] = await database.query('select e.kept_by from auth.pgreflect_entries e where e.user_id = $1::uuid', [
    userId,
  ]);
  return (row?.kept_by as KeptBy | undefined) ?? null;
}

/** Deletes the entry, because the address is about to be proved. @returns Null if there was none. */
export async function takeEntry(database: Queryable, userId: string): Promise<KeptBy | null> {
  const [row] = await database.query(
    'delete from auth.pgreflect_entries e where e.user_id = $1::uuid returning e.kept_by',
    [userId],
  );
  return (row?.kept_by as KeptBy | undefined) ?? null;
}

/**
 * Keeps the user's old data with the newest flow of that method until its verifier arrives. It is deleted with the
 * flow.
 */
export async function withholdEntry(
  database: Queryable,
  { id, passwordHash, userMetadata }: User,
  method: FlowMethod,
): Promise<void> {
  await database.query(
    `insert into auth.pgreflect_entries (user_id, kept_by, flow_id, password_hash, user_metadata)
    select $1::uuid, 'code', f.id, $3, $4::jsonb from auth.flow_state f
    where f.user_id = $1::uuid and f.authentication_method = $2
    order by f.created_at desc, f.id limit 1`,
    [id, method, passwordHash, JSON.stringify(userMetadata)],
  );
}
