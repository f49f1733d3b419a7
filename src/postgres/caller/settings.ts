/**
 * The statements that open every flight: hygiene of the connection, then the caller's settings with the freshness check.
 *
 * Everything is set in every flight and for its transaction only, so nothing of one caller is left for the next and a
 * transaction pooler may sit in between. Until the caller's search path is set nothing may be looked up in the one that the
 * session has: every name is qualified, and every literal has the type that its operator takes.
 *
 * The texts depend only on which parts are there and on how many settings a role has; names and values are parameters.
 */
import { PublicError } from '../../shared/errors.ts';
import { sessionMarker, staleMarker, temporaryMarker } from '../failure.ts';
import type { Caller } from './caller.ts';

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
 * Sent first in every flight, about 5 us. Where no function of a user can have run there is nothing to reset; this is what keeps
 * a mistake about that from reaching the next caller.
 */
const always: readonly string[] = ['reset role', 'reset all'];

/**
 * Fails on purpose where somebody has prepared a statement by SQL: it may stand under a name of ours, and would run as the login
 * or as the next caller. Sent unnamed, because no SQL reaches the unnamed statement of a session, before any named one is run.
 * It reads the list of all prepared statements, about 4 us for each of them.
 */
const foreignStatements = `select pg_catalog.num_nulls((
  select ('${sessionMarker}'::pg_catalog.text operator(pg_catalog.||) p.name)::pg_catalog.int4
  from pg_catalog.pg_prepared_statement() p where p.from_sql limit 1))`;

/** One statement of the hygiene. */
export interface HygieneStep {
  readonly text: string;
  /** Sent unnamed, and kept: prepared once for as long as the connection has no other unnamed statement. */
  readonly isUnnamed: boolean;
}

const named = (text: string): HygieneStep => ({ text, isUnnamed: false });

/**
 * The parts of `discard all` but for the prepared statements, which are ours, and for what costs less elsewhere: advisory locks, which
 * the settings statement releases in every flight, temporary tables, which it finds, and the session's own authorization, whose
 * change the server reports (pool.ts).
 */
const afterUserCode: readonly HygieneStep[] = [
  { text: foreignStatements, isUnnamed: true },
  ...[...always, 'close all', 'unlisten *', 'discard sequences'].map(named),
];

/**
 * What the flight before may have left in a session: nothing, because it ran no code of a user; anything; or temporary
 * tables as well. `shared`: the session is others' as well, behind a pooler.
 */
export type SessionState = 'plain' | 'dirty' | 'temporary' | 'shared';

/** Sent first in a flight, by what the one before may have left. */
export const hygiene: Readonly<Record<SessionState, readonly HygieneStep[]>> = {
  plain: always.map(named),
  dirty: afterUserCode,
  temporary: [...afterUserCode, named('discard temp')],
  // Nothing is prepared there. What transactions begin with is said for each (`characteristicsOf`).
  shared: [...always, 'close all', 'unlisten *', 'discard sequences', 'discard temp'].map(named),
};

/**
 * Has the named statements of the transaction planned for their values, where the operator has not chosen for all, for the role or for
 * the login. Runs as the caller, so nothing of it is looked up in the search path.
 */
export const planForValues = `select pg_catalog.num_nulls(pg_catalog.set_config('plan_cache_mode', 'force_custom_plan', true))
where pg_catalog.current_setting('plan_cache_mode') operator(pg_catalog.=) 'auto'::pg_catalog.text`;

/**
 * An expression for the state of all role memberships, a number as text. Event triggers do not see `grant role`, so the
 * model remembers this and the flight compares it.
 */
export const membershipsExpression = `(select (pg_catalog.count(*)::pg_catalog.numeric operator(pg_catalog.+)
  coalesce(pg_catalog.sum(m.xmin::pg_catalog.text::pg_catalog.int8), 0::pg_catalog.numeric))::pg_catalog.text
  from pg_catalog.pg_auth_members m)`;

/**
 * Settings that are decided here and not by a role's own entry; rows are read in the encoding of the connection, which is UTF-8.
 * What a transaction begins with has begun when a setting could tell: see `characteristicsOf`.
 */
const decidedHere = new Set([
  'role',
  'session_authorization',
  'search_path',
  'statement_timeout',
  'client_encoding',
  'default_transaction_read_only',
  'default_transaction_isolation',
  'default_transaction_deferrable',
]);

const isolationLevels = new Set(['serializable', 'repeatable read', 'read committed', 'read uncommitted']);

/** What transactions begin with, as the server, the database and the login say, not the session. */
export interface TransactionDefaults {
  readonly isolation: string;
  readonly deferrable: string;
  /** Null on a standby, where nothing can be written. */
  readonly readOnly: string | null;
}

/** PostgreSQL takes any beginning that can mean only one of them. */
function isOn(value: string | undefined): boolean {
  const text = value?.trim().toLowerCase() ?? '';
  return text !== '' && (text === 'on' || text === '1' || 'true'.startsWith(text) || 'yes'.startsWith(text));
}

/**
 * The characteristics of the transaction that a role's own settings ask for (`alter role … set default_transaction_isolation`):
 * PostgreSQL applies such settings to the transactions after the one in which they are set.
 *
 * @param defaults Of a session that is others' as well; null: the session's own are right.
 * @returns A statement to send before any that reads; null where there is nothing to say.
 */
export function characteristicsOf(
  settings: ReadonlyMap<string, string>,
  defaults: TransactionDefaults | null,
): string | null {
  const own = settings.get('default_transaction_isolation')?.trim().toLowerCase();
  const isolation = [own, defaults?.isolation].find((level) => level !== undefined && isolationLevels.has(level));
  const deferrable = settings.get('default_transaction_deferrable') ?? defaults?.deferrable;
  const readOnly = defaults?.readOnly ?? null;
  const parts = [
    ...(isolation === undefined ? [] : [`isolation level ${isolation}`]),
    ...(readOnly === null ? [] : [isOn(readOnly) ? 'read only' : 'read write']),
    ...(deferrable === undefined ? [] : [isOn(deferrable) ? 'deferrable' : 'not deferrable']),
  ];
  return parts.length === 0 ? null : `set transaction ${parts.join(', ')}`;
}

/** The statements that set what a caller's transaction runs with. */
export interface SettingsStatements {
  /** By what the flight before may have left; fails with a marker of failure.ts where the session cannot be used as it is. */
  readonly text: Readonly<Record<SessionState, string>>;
  readonly values: readonly string[];
  /**
   * Sets the caller, the search path and the limit again: between two main steps, because a function that the first one
   * called may have changed them for the rest of the transaction.
   */
  readonly again: { readonly text: string; readonly values: readonly string[] };
  /** As `characteristicsOf`, for a session of our own. */
  readonly characteristics: string | null;
  /** The role's own settings. */
  readonly own: ReadonlyMap<string, string>;
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
  const readOnly = input.readOnly || isOn(input.settings.get('default_transaction_read_only'));
  const characteristics = characteristicsOf(input.settings, null);
  const values = [caller.claims, caller.headers, caller.method, caller.path, input.searchPath];
  values.push(String(input.timeoutMs), caller.role);
  const again = { text: settingsText({ ...bare, readOnly }), values: [...values] };
  if (freshness) values.push(freshness.snapshot);
  if (freshness?.memberships != null) values.push(freshness.memberships);
  for (const setting of own) values.push(...setting);
  const check = freshness === null ? 'none' : freshness.memberships === null ? 'catalog' : 'catalog_and_memberships';
  const parts: Omit<Parts, 'session'> = { check, readOnly, ownCount: own.length, begins: characteristics === null };
  const text = {
    plain: settingsText({ ...parts, session: 'plain' }),
    dirty: settingsText({ ...parts, session: 'dirty' }),
    temporary: settingsText({ ...parts, session: 'temporary' }),
    shared: settingsText({ ...parts, session: 'shared' }),
  };
  return { text, values, again, characteristics, own: input.settings };
}

/** What decides the text of a settings statement. */
interface Parts {
  readonly check: 'none' | 'catalog' | 'catalog_and_memberships';
  readonly readOnly: boolean;
  readonly ownCount: number;
  /** The transaction begins as the session's settings say. */
  readonly begins: boolean;
  /** `inside`: the transaction is under way, and the locks of the session may be its own. */
  readonly session: SessionState | 'inside';
}

/** Without a role's own settings: the login role may be allowed to set what the role itself is not. */
const bare: Parts = { check: 'none', readOnly: false, ownCount: 0, begins: false, session: 'inside' };

/** Printed once for each combination; bounded by the number of settings a role of this server has. */
const texts = new Map<string, string>();

function settingsText(parts: Parts): string {
  const key = `${parts.check} ${parts.readOnly} ${parts.ownCount} ${parts.begins} ${parts.session}`;
  const known = texts.get(key);
  if (known !== undefined) return known;
  const text = printSettings(parts);
  texts.set(key, text);
  return text;
}

/** PostgreSQL takes 100 arguments a call. */
const maxArguments = 90;

/**
 * The role is set after everything else, because `case` evaluates its condition before its result; until then the login's
 * privileges count, as the check of the catalog needs. Nothing depends on the order of the arguments.
 */
function printSettings({ check, readOnly, ownCount, begins, session }: Parts): string {
  const columns = [
    ...(session === 'inside' ? [] : ['pg_catalog.pg_advisory_unlock_all()']),
    ...(session === 'plain' || session === 'dirty' ? [temporaryTables] : []),
    ...((session === 'dirty' || session === 'temporary') && begins ? [changedCharacteristics] : []),
    ...(check === 'none' ? [] : [staleCatalog]),
    ...(check === 'catalog_and_memberships' ? [staleMemberships] : []),
    "pg_catalog.set_config('request.jwt.claims', $1, true)",
    "pg_catalog.set_config('request.headers', $2, true)",
    "pg_catalog.set_config('request.method', $3, true)",
    "pg_catalog.set_config('request.path', $4, true)",
    "pg_catalog.set_config('search_path', $5, true)",
    "pg_catalog.set_config('statement_timeout', $6, true)",
  ];
  const firstOwn = check === 'none' ? 8 : check === 'catalog' ? 9 : 10;
  for (let index = 0; index < ownCount; index += 1) {
    columns.push(`pg_catalog.set_config($${firstOwn + 2 * index}, $${firstOwn + 2 * index + 1}, true)`);
  }
  if (readOnly) columns.push("pg_catalog.set_config('transaction_read_only', 'on', true)");
  const calls: string[] = [];
  for (let at = 0; at < columns.length; at += maxArguments) {
    calls.push(`pg_catalog.num_nulls(${columns.slice(at, at + maxArguments).join(',\n       ')})`);
  }
  const all = calls.length === 1 ? calls[0] : `pg_catalog.num_nulls(${calls.join(',\n       ')})`;
  return `select pg_catalog.num_nulls(pg_catalog.set_config('role',
       case when ${all} operator(pg_catalog.>=) 0::pg_catalog.int4
       then $7 end, true))`;
}

/**
 * Fails on purpose where the session has a namespace for temporary tables, made by a user's function: in a query too, of
 * a policy or a view, so nobody can know in advance. Names of tables are looked up there first, by every function that
 * has no search path of its own, and what is in it is the last caller's.
 */
const temporaryTables = `case when pg_catalog.pg_my_temp_schema() operator(pg_catalog.<>) 0::pg_catalog.oid
         then ('${temporaryMarker}'::pg_catalog.text operator(pg_catalog.||) pg_catalog.pg_my_temp_schema()::pg_catalog.text)::pg_catalog.int4 end`;

/**
 * Fails on purpose where a function has changed, for the session, what transactions begin with: this one has begun so. The
 * settings have been reset by now. That transactions are read-only is reported by the server (pool.ts).
 */
const changedCharacteristics = `case when pg_catalog.current_setting('transaction_isolation')
           operator(pg_catalog.<>) pg_catalog.current_setting('default_transaction_isolation')
           or pg_catalog.current_setting('transaction_deferrable')
           operator(pg_catalog.<>) pg_catalog.current_setting('default_transaction_deferrable')
         then ('${sessionMarker}'::pg_catalog.text operator(pg_catalog.||) pg_catalog.current_setting('transaction_isolation'))::pg_catalog.int4 end`;

/**
 * Fails on purpose where the catalog has a committed change that the model's snapshot ($8) could not see. The text that
 * is cast contains a column: a constant would be computed, and fail, before any row is looked at. The second condition
 * ignores rows that came with a restored dump.
 */
const staleCatalog = `(select ('${staleMarker}'::pg_catalog.text operator(pg_catalog.||) c.xid::pg_catalog.text)::pg_catalog.int4
        from pgreflect.catalog_change c
        where c.xid operator(pg_catalog.>=) pg_catalog.pg_snapshot_xmin($8::pg_catalog.pg_snapshot)
          and c.xid operator(pg_catalog.<) pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())
          and not pg_catalog.pg_visible_in_snapshot(c.xid, $8::pg_catalog.pg_snapshot)
        limit 1)`;

const staleMemberships = `(select ('${staleMarker}memberships '::pg_catalog.text operator(pg_catalog.||) v.version)::pg_catalog.int4
        from (select ${membershipsExpression} as version) v
        where v.version operator(pg_catalog.<>) $9::pg_catalog.text)`;
