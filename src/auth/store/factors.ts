/**
 * Reads and writes second factors (`auth.mfa_factors`) and their challenges (`auth.mfa_challenges`).
 *
 * Callers of functions that write hold the lock on the user, so concurrent requests about a user's factors run one
 * after the other.
 */
import { randomInt, randomUUID } from 'node:crypto';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { readTime, type Time, toTimestamp } from '../../shared/times.ts';
import type { Factor } from '../model/user.ts';
import { toStorableIp } from './sessions.ts';
import type { StoreTransaction } from './transaction.ts';

/** Lifetime of a challenge in milliseconds, and of a factor that was never challenged. */
export const challengeLifetimeMs = 300_000;

/** A factor to insert. */
export interface NewFactor {
  readonly userId: string;
  /** Empty for none. */
  readonly friendlyName: string;
  readonly factorType: Factor['factorType'];
  /** In base32; null for a phone. */
  readonly secret: string | null;
  /** Digits only; null for an app. */
  readonly phone: string | null;
}

/** Inserts an unverified factor. @returns Its id. */
export async function insertFactor(tx: StoreTransaction, factor: NewFactor): Promise<string> {
  const id = randomUUID();
  await tx.query(
    `insert into auth.mfa_factors (
      id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret, phone
    ) values ($1::uuid, $2::uuid, $3, $4::auth.factor_type, 'unverified', $5::timestamptz, $5::timestamptz, $6, $7)`,
    [
      id,
      factor.userId,
      factor.friendlyName,
      factor.factorType,
      toTimestamp(tx.clock.now()),
      factor.secret,
      factor.phone,
    ],
  );
  return id;
}

/** Changes of a factor; absent fields stay. */
export interface FactorChanges {
  readonly friendlyName?: string;
  /** Digits only. */
  readonly phone?: string;
  readonly status?: 'verified';
}

/** Writes changes. */
export async function updateFactor(
  tx: StoreTransaction,
  id: string,
  { friendlyName, phone, status }: FactorChanges,
): Promise<void> {
  await tx.query(
    `update auth.mfa_factors set
      friendly_name = coalesce($2, friendly_name), phone = coalesce($3, phone),
      status = coalesce($4::auth.factor_status, status), updated_at = $5::timestamptz
    where id = $1::uuid`,
    [id, friendlyName ?? null, phone ?? null, status ?? null, toTimestamp(tx.clock.now())],
  );
}

/** Deletes a factor with its challenges. */
export async function deleteFactor(database: Queryable, id: string): Promise<void> {
  await database.query('delete from auth.mfa_factors f where f.id = $1::uuid', [id]);
}

/** Deletes abandoned unverified factors of all users, at most a hundred. */
export async function deleteAbandonedFactors(tx: StoreTransaction): Promise<void> {
  await tx.query(
    `delete from auth.mfa_factors d
    where d.id in (
      select f.id from auth.mfa_factors f
      where f.status = 'unverified' and f.created_at < $1::timestamptz
        and not exists (select from auth.mfa_challenges c where c.factor_id = f.id)
      limit 100 for update skip locked
    )`,
    [toTimestamp(tx.clock.now() - challengeLifetimeMs)],
  );
}

/** Deletes the user's other unverified factors of the same type. */
export async function deleteOtherAttempts(database: Queryable, userId: string, verified: Factor): Promise<void> {
  await database.query(
    `delete from auth.mfa_factors f
    where f.user_id = $1::uuid and f.factor_type = $2::auth.factor_type and f.status = 'unverified' and f.id <> $3::uuid`,
    [userId, verified.factorType, verified.id],
  );
}

/** A challenge with the values that its answer is checked against. */
export interface Challenge {
  readonly id: string;
  readonly factorId: string;
  readonly createdAt: Time;
  readonly isVerified: boolean;
  /** Whether the request comes from the IP address of the challenge. */
  readonly isSameAddress: boolean;
  /** Code of the message; null for an app. */
  readonly code: string | null;
  /** Secret of the app, in base32; null for a phone. Text that begins with `{` is encrypted and cannot be read. */
  readonly secret: string | null;
}

/** Stored for a connection without an IP address. */
const noAddress = '0.0.0.0';

/**
 * Creates a challenge.
 *
 * @param given `code` is the code of the message; null for an app.
 * @returns Its id; null if the factor was deleted meanwhile.
 * @throws DatabaseError of `mfa_factors_last_challenged_at_key` if another factor was challenged at the same instant.
 */
export async function createChallenge(
  tx: StoreTransaction,
  given: { readonly factorId: string; readonly ip: string | null; readonly code: string | null },
): Promise<string | null> {
  const id = randomUUID();
  const now = tx.clock.now();
  const rows = await tx.query(
    `with challenged as (
      update auth.mfa_factors set last_challenged_at = $6::timestamptz, updated_at = $3::timestamptz where id = $2::uuid
      returning id
    )
    insert into auth.mfa_challenges (id, factor_id, created_at, ip_address, otp_code)
    select $1::uuid, f.id, $3::timestamptz, $4::inet, $5 from challenged f
    returning id`,
    [id, given.factorId, toTimestamp(now), toStorableIp(given.ip) ?? noAddress, given.code, toInstant(now)],
  );
  return rows.length === 0 ? null : id;
}

/** Adds random microseconds to the clock's milliseconds: the column is unique over all factors. */
function toInstant(now: Time): string | null {
  return toTimestamp(now - randomInt(1000) / 1000);
}

/** Locks the challenge for this transaction; null if the factor has no such challenge. @param id A UUID. */
export async function lockChallenge(
  database: Queryable,
  { id, factorId, ip }: { readonly id: string; readonly factorId: string; readonly ip: string | null },
): Promise<Challenge | null> {
  const [row] = await database.query(
    `select c.id, f.id as "factorId", (extract(epoch from c.created_at) * 1000)::float8 as "createdAt",
      c.verified_at is not null as "isVerified", c.ip_address = $3::inet as "isSameAddress", c.otp_code as code, f.secret
    from auth.mfa_challenges c join auth.mfa_factors f on f.id = c.factor_id
    where c.id = $1::uuid and f.id = $2::uuid
    for update`,
    [id, factorId, toStorableIp(ip) ?? noAddress],
  );
  return row === undefined ? null : ({ ...row, createdAt: readTime(row.createdAt) ?? 0 } as Challenge);
}

/** Deletes a challenge. */
export async function deleteChallenge(database: Queryable, id: string): Promise<void> {
  await database.query('delete from auth.mfa_challenges c where c.id = $1::uuid', [id]);
}

/** Marks a challenge as answered. */
export async function noteAnswered(tx: StoreTransaction, id: string): Promise<void> {
  const text = 'update auth.mfa_challenges set verified_at = $2::timestamptz where id = $1::uuid';
  await tx.query(text, [id, toTimestamp(tx.clock.now())]);
}

/** Uses up the code of a step and of all earlier ones. @returns False if it was used up before. */
export async function useStep(database: Queryable, factorId: string, step: number): Promise<boolean> {
  const rows = await database.query(
    `insert into auth.pgreflect_totp_steps as s (factor_id, step) values ($1::uuid, $2::bigint)
    on conflict (factor_id) do update set step = excluded.step where s.step < excluded.step
    returning s.step`,
    [factorId, step],
  );
  return rows.length > 0;
}
