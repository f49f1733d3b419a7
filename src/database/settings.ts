/**
 * The statements that open every flight: hygiene of the connection, then the caller's settings with the freshness check.
 *
 * Everything is set in every flight and for its transaction only, so nothing of one caller is left for the next and a
 * transaction pooler may sit in between. Arguments of a function are evaluated from left to right: the freshness check
 * reads its table as the login role, and `role` comes last. The function is there so that nothing of it is sent back.
 *
 * The texts depend only on which parts are there and on how many settings a role has; names and values are parameters.
 */
import { PublicError } from '../shared/errors.ts';
import type { Caller } from './caller.ts';
import { staleMarker, temporaryMarker } from './failure.ts';

/** What the settings statements need; see `RunAsOptions` for the meaning. */
export interface SettingsInput {
  readonly caller: Caller;
  readonly searchPath: string;
  readonly settings: ReadonlyMap<string, string>;
  readonly timeoutMs: number;
  readonly freshness: { readonly snapshot: string; readonly memberships: string | null } | null;
  readonly readOnly: boolean;
}

/**
 * Sent first in every flight, about 5 us: a user's function, in a query too, can call `set_config(…, false)`. A role left
 * behind like that would read the freshness check's table, `reset all` does not touch it.
 */
export const alwaysFirst: readonly string[] = ['reset role', 'reset all'];

/**
 * Sent first after a flight that could write or has failed: the rest of what a user's function can leave in a session. The parts of
 * `discard all` but for the prepared statements, which are ours, and for what costs less elsewhere: advisory locks, which the
 * settings statement releases in every flight, temporary tables, which it finds, and the session's own authorization, whose
 * change the server reports (pool.ts).
 */
export const afterMutation: readonly string[] = [...alwaysFirst, 'close all', 'unlisten *', 'discard sequences'];

/** Sent first in a session that has had temporary tables. */
export const afterTemporaryTables: readonly string[] = [...afterMutation, 'discard temp'];

/**
 * Has the named statements of the transaction planned for their values, where the operator has not chosen for all, for the role or for
 * the login. Runs as the caller, so nothing of it is looked up in the search path.
 */
export const planForValues = `select pg_catalog.num_nulls(pg_catalog.set_config('plan_cache_mode', 'force_custom_plan', true))
where pg_catalog.current_setting('plan_cache_mode') operator(pg_catalog.=) 'auto'`;

/**
 * An expression for the state of all role memberships, a number as text. Event triggers do not see `grant role`, so the
 * model remembers this and the flight compares it.
 */
export const membershipsExpression =
  '(select (pg_catalog.count(*) + coalesce(pg_catalog.sum(m.xmin::text::bigint), 0))::text from pg_catalog.pg_auth_members m)';

/** Settings that are decided here and not by a role's own entry; rows are read in the encoding of the connection, which is UTF-8. */
const decidedHere = new Set(['role', 'session_authorization', 'search_path', 'statement_timeout', 'client_encoding']);

/** The statements that set what a caller's transaction runs with. */
export interface SettingsStatements {
  /** Fails with `temporaryMarker` where the session has had temporary tables. */
  readonly text: string;
  /** The same for a session whose temporary tables have been discarded in this flight. */
  readonly textAfterDiscard: string;
  readonly values: readonly string[];
  /**
   * Sets the caller, the search path and the limit again: between two main steps, because a function that the first one
   * called may have changed them for the rest of the transaction.
   */
  readonly again: { readonly text: string; readonly values: readonly string[] };
}

/**
 * The settings statements and their values.
 *
 * @throws PublicError `ROLE_NOT_ALLOWED` for the names `none` and empty: both mean the login role to PostgreSQL.
 */
export function buildSettings(input: SettingsInput): SettingsStatements {
  const { caller, freshness } = input;
  if (caller.role === '' || caller.role === 'none') {
    throw new PublicError('ROLE_NOT_ALLOWED', `"${caller.role}" is not the name of a role.`);
  }
  const own = [...input.settings].filter(([name]) => !decidedHere.has(name));
  const values = [caller.claims, caller.headers, caller.method, caller.path, input.searchPath];
  values.push(String(input.timeoutMs), caller.role);
  const again = { text: settingsText({ ...bare, readOnly: input.readOnly }), values: [...values] };
  if (freshness) values.push(freshness.snapshot);
  if (freshness?.memberships != null) values.push(freshness.memberships);
  for (const setting of own) values.push(...setting);
  const check = freshness === null ? 'none' : freshness.memberships === null ? 'catalog' : 'catalog_and_memberships';
  const parts: Parts = { check, readOnly: input.readOnly, ownCount: own.length, session: 'checked' };
  return {
    text: settingsText(parts),
    textAfterDiscard: settingsText({ ...parts, session: 'discarded' }),
    values,
    again,
  };
}

/** What decides the text of a settings statement. */
interface Parts {
  readonly check: 'none' | 'catalog' | 'catalog_and_memberships';
  readonly readOnly: boolean;
  readonly ownCount: number;
  /** `inside`: the transaction is under way, and the locks of the session may be its own. */
  readonly session: 'checked' | 'discarded' | 'inside';
}

/** Without a role's own settings: the login role may be allowed to set what the role itself is not. */
const bare: Parts = { check: 'none', readOnly: false, ownCount: 0, session: 'inside' };

/** Printed once for each combination; bounded by the number of settings a role of this server has. */
const texts = new Map<string, string>();

function settingsText(parts: Parts): string {
  const key = `${parts.check} ${parts.readOnly} ${parts.ownCount} ${parts.session}`;
  const known = texts.get(key);
  if (known !== undefined) return known;
  const text = printSettings(parts);
  texts.set(key, text);
  return text;
}

/** PostgreSQL takes 100 arguments a call. */
const maxArguments = 90;

function printSettings({ check, readOnly, ownCount, session }: Parts): string {
  const columns = [
    ...(session === 'inside' ? [] : ['pg_catalog.pg_advisory_unlock_all()']),
    ...(session === 'checked' ? [temporaryTables] : []),
    ...(check === 'none' ? [] : [staleCatalog]),
    ...(check === 'catalog_and_memberships' ? [staleMemberships] : []),
    "pg_catalog.set_config('request.jwt.claims', $1, true)",
    "pg_catalog.set_config('request.headers', $2, true)",
    "pg_catalog.set_config('request.method', $3, true)",
    "pg_catalog.set_config('request.path', $4, true)",
  ];
  const firstOwn = check === 'none' ? 8 : check === 'catalog' ? 9 : 10;
  for (let index = 0; index < ownCount; index += 1) {
    columns.push(`pg_catalog.set_config($${firstOwn + 2 * index}, $${firstOwn + 2 * index + 1}, true)`);
  }
  columns.push(
    "pg_catalog.set_config('search_path', $5, true)",
    "pg_catalog.set_config('statement_timeout', $6, true)",
  );
  if (readOnly) columns.push("pg_catalog.set_config('transaction_read_only', 'on', true)");
  columns.push("pg_catalog.set_config('role', $7, true)");
  const calls: string[] = [];
  for (let at = 0; at < columns.length; at += maxArguments) {
    calls.push(`pg_catalog.num_nulls(${columns.slice(at, at + maxArguments).join(',\n       ')})`);
  }
  return `select ${calls.join(',\n       ')}`;
}

/**
 * Fails on purpose where the session has a namespace for temporary tables, made by a user's function: in a query too, of
 * a policy or a view, so nobody can know in advance. Names of tables are looked up there first, by every function that
 * has no search path of its own, and what is in it is the last caller's.
 */
const temporaryTables = `case when pg_catalog.pg_my_temp_schema() <> 0
         then ('${temporaryMarker}' || pg_catalog.pg_my_temp_schema())::int end`;

/**
 * Fails on purpose where the catalog has a committed change that the model's snapshot ($8) could not see. The text that
 * is cast contains a column: a constant would be computed, and fail, before any row is looked at. The second condition
 * ignores rows that came with a restored dump.
 */
const staleCatalog = `(select ('${staleMarker}' || c.xid)::int
        from pgreflect.catalog_change c
        where c.xid >= pg_catalog.pg_snapshot_xmin($8::pg_catalog.pg_snapshot)
          and c.xid < pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())
          and not pg_catalog.pg_visible_in_snapshot(c.xid, $8::pg_catalog.pg_snapshot)
        limit 1)`;

const staleMemberships = `(select ('${staleMarker}memberships ' || v.version)::int
        from (select ${membershipsExpression} as version) v
        where v.version <> $9)`;
