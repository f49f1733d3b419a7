/**
 * Records who else entered something for an address that nobody has proved. No row: only the account's own sign-up did.
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import type { Entered } from '../model/user.ts';
import type { FlowMethod } from './flows.ts';

/** Input for an account with an unverified address, from others than its own sign-up. */
export type UnverifiedInput =
  /** An admin did, so every proof of the address keeps the account. */
  | { readonly enteredBy: 'admin' }
  /** Another request came. `entered` counts if the confirmation of that request proves the address; null: nothing does. */
  | { readonly enteredBy: 'other'; readonly isNewest: boolean; readonly entered: Entered | null };

/** An admin entered the account. */
export async function noteAdmin(database: Queryable, userId: string): Promise<void> {
  await database.query(
    `insert into auth.pgreflect_unverified_inputs (user_id, entered_by) values ($1::uuid, 'admin')
    on conflict (user_id) do update set
      entered_by = excluded.entered_by, token_id = null, network = null, password_hash = null, user_metadata = null`,
    [userId],
  );
}

/** Notes the network that a sign-up came from. Another request from there is of the same person. */
export async function noteNetwork(database: Queryable, userId: string, network: string): Promise<void> {
  await database.query(
    `insert into auth.pgreflect_unverified_inputs (user_id, entered_by, network) values ($1::uuid, 'self', $2)`,
    [userId, network],
  );
}

/** Whether the account's own sign-up came from the network, and nobody else came since. */
export async function isOfNetwork(database: Queryable, userId: string, network: string): Promise<boolean> {
  const [row] = await database.query(
    `select from auth.pgreflect_unverified_inputs e where e.user_id = $1::uuid and e.entered_by = 'self' and e.network = $2`,
    [userId, network],
  );
  return row !== undefined;
}

/** A condition on `t`: the confirmation of the user `$1`. */
const isConfirmation = `t.user_id = $1::uuid and t.token_type = 'confirmation_token'`;

/** The id of the user's pending confirmation; null for none. */
export async function findConfirmation(database: Queryable, userId: string): Promise<string | null> {
  const [row] = await database.query(`select t.id from auth.one_time_tokens t where ${isConfirmation}`, [userId]);
  return (row?.id as string | undefined) ?? null;
}

/**
 * Another request than the account's own sign-up has asked for a confirmation. If none was sent, for a limit, the older
 * one proves the address alone from now on. Changes nothing of an admin's account.
 *
 * @param before The confirmation before the request. @param entered Null: the request proves no more than the address.
 */
export async function noteOther(
  database: Queryable,
  userId: string,
  before: string | null,
  entered: Entered | null,
): Promise<void> {
  await database.query(
    `insert into auth.pgreflect_unverified_inputs as e (user_id, entered_by, token_id, password_hash, user_metadata)
    values ($1::uuid, 'other', (
      select t.id from auth.one_time_tokens t where ${isConfirmation} and t.id is distinct from $2::uuid
    ), $3, $4::jsonb)
    on conflict (user_id) do update set
      entered_by = excluded.entered_by, token_id = excluded.token_id, network = null,
      password_hash = excluded.password_hash, user_metadata = excluded.user_metadata
    where e.entered_by <> 'admin'`,
    [userId, before, entered?.passwordHash ?? null, entered === null ? null : JSON.stringify(entered.userMetadata)],
  );
}

const inputColumns = `e.entered_by as "enteredBy", e.password_hash as "passwordHash", e.user_metadata as "userMetadata",
  exists (select from auth.one_time_tokens t where t.id = e.token_id) as "isNewest"`;

/** Who else entered the account; null: nobody did. */
export async function readUnverifiedInput(database: Queryable, userId: string): Promise<UnverifiedInput | null> {
  const [row] = await database.query(
    `select ${inputColumns} from auth.pgreflect_unverified_inputs e
    where e.user_id = $1::uuid and e.entered_by in ('admin', 'other')`,
    [userId],
  );
  return toUnverifiedInput(row);
}

/** As `readEntry`, and deletes the record, because the address is about to be proved. */
export async function takeUnverifiedInput(database: Queryable, userId: string): Promise<UnverifiedInput | null> {
  const [row] = await database.query(
    `delete from auth.pgreflect_unverified_inputs e where e.user_id = $1::uuid and e.flow_id is null returning ${inputColumns}`,
    [userId],
  );
  return toUnverifiedInput(row);
}

function toUnverifiedInput(row: Record<string, unknown> | undefined): UnverifiedInput | null {
  if (row === undefined || row.enteredBy === 'self') return null;
  if (row.enteredBy === 'admin') return { enteredBy: 'admin' };
  const entered = { passwordHash: row.passwordHash, userMetadata: row.userMetadata } as Entered;
  return {
    enteredBy: 'other',
    isNewest: row.isNewest === true,
    entered: row.userMetadata === null ? null : entered,
  };
}

/** Keeps what was entered with the newest flow of that method until its verifier arrives. It is deleted with the flow. */
export async function withholdInput(
  database: Queryable,
  userId: string,
  { passwordHash, userMetadata }: Entered,
  method: FlowMethod,
): Promise<void> {
  await database.query(
    `insert into auth.pgreflect_unverified_inputs (user_id, entered_by, flow_id, password_hash, user_metadata)
    select $1::uuid, 'withheld', f.id, $3, $4::jsonb from auth.flow_state f
    where f.user_id = $1::uuid and f.authentication_method = $2
    order by f.created_at desc, f.id limit 1
    on conflict (user_id) do update set
      flow_id = excluded.flow_id, password_hash = excluded.password_hash, user_metadata = excluded.user_metadata`,
    [userId, method, passwordHash, JSON.stringify(userMetadata)],
  );
}
