/**
 * Calls a hook that is a function of the database, inside the request's transaction: its changes are committed with the
 * request's, or not at all. It runs as the auth service's login, which needs `execute` on it. The function and its
 * schema must belong to roles that could act as that login anyway; other owners could run any code as it.
 *
 * A savepoint isolates failures: the transaction can continue, and the time limit ends only the function.
 */
import type { HookFunction } from '../../config/auth/hook-target.ts';
import { DatabaseError } from '../../postgres/database-error.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { pinSettings } from '../../postgres/system/system-connection.ts';
import { HookError } from './hook-error.ts';

/** Default limits of functions, as in Supabase Auth. */
export const functionLimits = { timeoutMs: 2000, maxRequestBytes: 1_048_576, maxAnswerBytes: 204_800 };

/** Limits of functions. */
export type FunctionLimits = Readonly<typeof functionLimits>;

const setTimeLimit = `select pg_catalog.current_setting('statement_timeout') as before,
  pg_catalog.set_config('statement_timeout', $1, true) as now`;

/**
 * The owner of the function with exactly this argument, which PostgreSQL prefers over others of its name. The schema's
 * owner counts as well, because they could replace the function between this check and the call; PostgreSQL cannot lock
 * functions.
 */
const findOwners = `select pg_catalog.pg_has_role(p.proowner, current_user, 'MEMBER') as owns_function,
    pg_catalog.pg_has_role(case n.nspowner when 'pg_database_owner'::pg_catalog.regrole then d.datdba else n.nspowner end,
      current_user, 'MEMBER') as owns_schema
  from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    join pg_catalog.pg_database d on d.datname = pg_catalog.current_database()
  where p.oid = pg_catalog.to_regprocedure($1)`;

/**
 * Calls the function.
 *
 * @param tx A transaction.
 * @returns Its result; null if that was null.
 * @throws HookError `hook_timeout`, `hook_payload_over_size_limit`, `unexpected_failure`. DatabaseError if the
 *   connection is lost.
 */
export async function callFunction(
  tx: Queryable,
  call: { readonly target: HookFunction; readonly payload: unknown; readonly limits: FunctionLimits },
): Promise<unknown> {
  const { target, limits } = call;
  const payload = JSON.stringify(call.payload);
  if (Buffer.byteLength(payload) > limits.maxRequestBytes) throw tooLarge(limits.maxRequestBytes);
  await assertOurs(tx, target);
  tx.noteUserCode?.();
  try {
    const [, [setting], [row]] = await Promise.all([
      tx.query('savepoint pgreflect_hook', []),
      tx.query(setTimeLimit, [String(limits.timeoutMs)]),
      tx.query(statementFor(target), [payload, limits.maxAnswerBytes]),
    ]);
    await Promise.all([
      tx.query(setTimeLimit, [setting?.before]),
      tx.query(pinSettings.text, []),
      tx.query('release savepoint pgreflect_hook', []),
    ]);
    if (Number(row?.bytes ?? 0) > limits.maxAnswerBytes) throw tooLarge(limits.maxAnswerBytes);
    return row?.answer ?? null;
  } catch (error) {
    if (!(error instanceof DatabaseError) || !['statement', 'timeout'].includes(error.kind)) throw error;
    await Promise.all([
      tx.query('rollback to savepoint pgreflect_hook', []),
      tx.query('release savepoint pgreflect_hook', []),
    ]);
    throw toHookError(error, limits.timeoutMs);
  }
}

async function assertOurs(tx: Queryable, { schema, name }: HookFunction): Promise<void> {
  const [found] = await tx.query(findOwners, [`"${schema}"."${name}"(pg_catalog.jsonb)`]);
  if (found?.owns_function === true && found.owns_schema === true) return;
  const routine = `function ${schema}.${name}(jsonb)`;
  const foreign = found?.owns_function === true ? `schema ${schema}` : routine;
  const reason = found
    ? `${foreign} belongs to a role that may not act as the login of the auth service: give it to that login`
    : `${routine} does not exist`;
  throw new HookError('unexpected_failure', 'Error running hook', { reason });
}

/** The names are words (`HookFunction`). Materialized: called exactly once, whatever its declared volatility. */
function statementFor({ schema, name }: HookFunction): string {
  return `with called as materialized (select "${schema}"."${name}"($1::jsonb)::jsonb as answer)
    select pg_catalog.octet_length(c.answer::text) as bytes,
      case when pg_catalog.octet_length(c.answer::text) <= $2::integer then c.answer end as answer
    from called c`;
}

/** Without the cause, which would be logged: error texts may quote values, except those of class 42. */
function toHookError({ kind, sqlstate, primary }: DatabaseError, timeoutMs: number): HookError {
  if (kind === 'timeout') {
    const message = `Failed to reach hook within maximum time of ${timeoutMs / 1000} seconds`;
    return new HookError('hook_timeout', message, { reason: `no answer within ${timeoutMs} ms` });
  }
  const reason = `SQLSTATE ${sqlstate}${sqlstate?.startsWith('42') ? `: ${primary}` : ''}`;
  return new HookError('unexpected_failure', 'Error running hook', { reason });
}

function tooLarge(maxBytes: number): HookError {
  const message = `Payload size exceeded size limit of ${maxBytes} bytes`;
  return new HookError('hook_payload_over_size_limit', message, { reason: `more than ${maxBytes} bytes of JSON` });
}
