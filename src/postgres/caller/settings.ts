/**
 * The statement that makes a caller's settings for the transaction and checks the connection and the model's age.
 *
 * Everything is set in every flight and only for its transaction, so nothing reaches the next caller and a transaction
 * pooler may be in between. Until the caller's search path is set, the connection's must not be used: every name is
 * qualified, and every literal has its operator's type.
 *
 * The text depends only on which parts are present and on the number of a role's settings; names and values are
 * parameters.
 */
import { PublicError } from '../../shared/errors.ts';
import { staleSentinel } from '../database-error.ts';
import type { TransactionDefaults } from '../wire/driver.ts';
import type { Caller } from './caller.ts';
import { type ConnectionState, changedCharacteristics, temporaryTables } from './connection-reset.ts';

/** What the settings statements need. */
export interface SettingsInput {
  readonly caller: Caller;
  /** Value for `set_config('search_path', ...)`: a list of quoted names. */
  readonly searchPath: string;
  /** The role's own settings (`alter role ... set`), without `statement_timeout`. */
  readonly settings: ReadonlyMap<string, string>;
  /** Server-side limit of each statement in milliseconds, the smaller of the role's and the gateway's; 0 = none. */
  readonly timeoutMs: number;
  /** The state that the model was read from; null = no check. */
  readonly freshness: Freshness | null;
  /** Name of the function to call before the first step (pre-request.ts); null: none. It may write in any case. */
  readonly preRequest: string | null;
}

/**
 * Makes PostgreSQL use custom plans for the transaction's named statements, unless the operator set `plan_cache_mode`
 * for all, the role or the login. Runs as the caller, so it uses no search path.
 */
export const planForValues = `select pg_catalog.num_nulls(pg_catalog.set_config('plan_cache_mode', 'force_custom_plan', true))
where pg_catalog.current_setting('plan_cache_mode') operator(pg_catalog.=) 'auto'::pg_catalog.text`;

/**
 * Settings that a role's own entry cannot override, because we set them or, as the encoding UTF-8, rely on them.
 * Transaction characteristics take effect too early for a setting: see `characteristicsOf`.
 */
const decidedHere = new Set([
  'role',
  'session_authorization',
  'request.jwt.claims',
  'request.headers',
  'request.method',
  'request.path',
  'search_path',
  'statement_timeout',
  'client_encoding',
  'default_transaction_read_only',
  'default_transaction_isolation',
  'default_transaction_deferrable',
  'extra_float_digits',
  'array_nulls',
]);

/**
 * Keys, cursors and lists travel as text, and must come back as the same values. Other digits are rounded, so a key
 * leads to no row or to another one. Without `array_nulls`, a null in a list is stored as the text `NULL`. Time zones
 * of other styles may be read as another zone. These hold against settings of the role, the login and the database.
 */
const pinnedSettings = [
  "pg_catalog.set_config('extra_float_digits', '1', true)",
  "pg_catalog.set_config('array_nulls', 'on', true)",
  "pg_catalog.set_config('DateStyle', 'ISO', true)",
];

/** A role's own setting, with dates in ISO style: only the order of day and month in the input is the role's. */
function withIsoDates([name, value]: readonly [string, string]): readonly [string, string] {
  if (name.toLowerCase() !== 'datestyle') return [name, value];
  const words = value.split(',').map((word) => word.trim().toLowerCase());
  const order = words.filter((word) => !/^(iso|sql|postgres|german|default)/.test(word));
  if (order.length === 0 && words.includes('german')) order.push('dmy');
  return [name, ['iso', ...order].join(', ')];
}

const isolationLevels = new Set(['serializable', 'repeatable read', 'read committed', 'read uncommitted']);

/** PostgreSQL accepts any unambiguous prefix. */
function isOn(value: string | undefined): boolean {
  const text = value?.trim().toLowerCase() ?? '';
  return text !== '' && (text === 'on' || text === '1' || 'true'.startsWith(text) || 'yes'.startsWith(text));
}

/**
 * The transaction characteristics in a role's own settings (`alter role … set default_transaction_isolation`):
 * PostgreSQL applies such a setting only to later transactions.
 *
 * @param defaults Of a shared connection; null: the connection's own are right.
 * @returns A statement to send before any that reads; null for none.
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

/** Texts of settings statements, the same for all callers. */
interface SettingsTexts {
  /** By the state of the connection; fails with a sentinel (connection-reset.ts) if it cannot be used. */
  readonly first: Readonly<Record<ConnectionState, string>>;
  /**
   * Sets caller, search path and limit again between two main steps, because a function in the first may have changed
   * them for the rest of the transaction. Takes the first values alone.
   */
  readonly again: string;
}

/** The statements that make the settings of a caller's transaction. */
export interface SettingsStatements {
  /** Of a transaction that may not write. */
  readonly readOnly: SettingsTexts;
  readonly readWrite: SettingsTexts;
  readonly values: readonly string[];
  /** As `characteristicsOf`, for a connection that is not shared. */
  readonly characteristics: string | null;
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
  const isReadOnlyRole = isOn(input.settings.get('default_transaction_read_only'));
  const characteristics = characteristicsOf(input.settings, null);
  const values = [caller.claims, caller.headers, caller.method, caller.path, input.searchPath];
  values.push(String(input.timeoutMs), caller.role);
  if (freshness) values.push(freshness.snapshot);
  if (freshness?.memberships != null) values.push(freshness.memberships);
  for (const setting of own) values.push(...withIsoDates(setting));
  const check = freshness === null ? 'none' : freshness.memberships === null ? 'catalog' : 'catalog_and_memberships';
  const parts = { check, ownCount: own.length, begins: characteristics === null } as const;
  // A function that runs before the request may write.
  const first = (isReadOnly: boolean) => isReadOnlyRole || (isReadOnly && input.preRequest === null);
  const texts = (isReadOnly: boolean) => settingsTexts(parts, first(isReadOnly), isReadOnly || isReadOnlyRole);
  return { readOnly: texts(true), readWrite: texts(false), values, characteristics, own: input.settings };
}

/** The texts for a transaction that may write, or not. */
export function textsOf(settings: SettingsStatements, readOnly: boolean): SettingsTexts {
  return readOnly ? settings.readOnly : settings.readWrite;
}

/** Number of the values that the text `again` takes. */
export const valuesAgain = 7;

/** What decides the text of a settings statement. */
interface Parts {
  readonly check: 'none' | 'catalog' | 'catalog_and_memberships';
  readonly readOnly: boolean;
  readonly ownCount: number;
  /** Sets how the transaction begins, as the connection's settings say. */
  readonly begins: boolean;
  /** `inside`: the transaction is running, and may hold advisory locks of its own. */
  readonly state: ConnectionState | 'inside';
}

/** One for each combination; bounded by the number of settings that a role of this server has. */
const knownTexts = new Map<string, SettingsTexts>();

function settingsTexts(parts: Omit<Parts, 'state' | 'readOnly'>, readOnly: boolean, again: boolean): SettingsTexts {
  const key = `${parts.check} ${parts.ownCount} ${parts.begins} ${readOnly} ${again}`;
  const known = knownTexts.get(key);
  if (known !== undefined) return known;
  const textOf = (state: ConnectionState) => printSettings({ ...parts, readOnly, state });
  const plain = textOf('plain');
  const made: SettingsTexts = {
    first: {
      plain,
      // The same statement, so that nothing more is prepared.
      wrote: plain,
      unknown: textOf('unknown'),
      temporary: textOf('temporary'),
      shared: textOf('shared'),
    },
    // Without the role's own settings, because the login role may set parameters that the role may not.
    again: printSettings({ check: 'none', ownCount: 0, begins: false, readOnly: again, state: 'inside' }),
  };
  knownTexts.set(key, made);
  return made;
}

/** PostgreSQL allows 100 arguments per call. */
const maxArguments = 90;

/**
 * `case` evaluates its condition before its result, so the role is set last. Until then the login's privileges apply,
 * which the catalog check needs. Nothing depends on the order of the arguments.
 */
function printSettings({ check, readOnly, ownCount, begins, state }: Parts): string {
  const columns = [
    ...(state === 'inside' ? [] : ['pg_catalog.pg_advisory_unlock_all()']),
    ...(state === 'plain' || state === 'unknown' ? [temporaryTables] : []),
    ...((state === 'unknown' || state === 'temporary') && begins ? [changedCharacteristics] : []),
    ...(check === 'none' ? [] : [staleCatalog]),
    ...(check === 'catalog_and_memberships' ? [staleMemberships] : []),
    "pg_catalog.set_config('request.jwt.claims', $1, true)",
    "pg_catalog.set_config('request.headers', $2, true)",
    "pg_catalog.set_config('request.method', $3, true)",
    "pg_catalog.set_config('request.path', $4, true)",
    "pg_catalog.set_config('search_path', $5, true)",
    "pg_catalog.set_config('statement_timeout', $6, true)",
    ...pinnedSettings,
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

/** The state that a model was read from. */
interface Freshness {
  readonly snapshot: string;
  /** Null: do not compare memberships. */
  readonly memberships: string | null;
}

/**
 * An expression for the state of all role memberships, a number as text. Event triggers do not fire on `grant role`, so
 * the model stores this and the flight compares it.
 */
export const membershipsExpression = `(select (pg_catalog.count(*)::pg_catalog.numeric operator(pg_catalog.+)
  coalesce(pg_catalog.sum(m.xmin::pg_catalog.text::pg_catalog.int8), 0::pg_catalog.numeric))::pg_catalog.text
  from pg_catalog.pg_auth_members m)`;

/**
 * Fails on purpose if the catalog has a committed change that the model's snapshot ($8) did not see. The cast text
 * contains a column: a constant would be evaluated, and fail, before any row is read. The snapshot did not see what
 * began later, nor the few transactions that were running: nothing else is looked at, however much was committed while
 * one of these ran. The second condition ignores rows from a restored dump.
 */
const staleCatalog = `(select ('${staleSentinel}'::pg_catalog.text operator(pg_catalog.||) c.xid::pg_catalog.text)::pg_catalog.int4
        from (
          select l.xid from pgreflect.catalog_change l
          where l.xid operator(pg_catalog.>=) pg_catalog.pg_snapshot_xmax($8::pg_catalog.pg_snapshot)
            and l.xid operator(pg_catalog.<) pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())
          union all
          select r.xid from pgreflect.catalog_change r
          where r.xid operator(pg_catalog.=) any (array(select pg_catalog.pg_snapshot_xip($8::pg_catalog.pg_snapshot)))
        ) c
        limit 1)`;

/** The same for changed role memberships ($9). */
const staleMemberships = `(select ('${staleSentinel}memberships '::pg_catalog.text operator(pg_catalog.||) v.version)::pg_catalog.int4
        from (select ${membershipsExpression} as version) v
        where v.version operator(pg_catalog.<>) $9::pg_catalog.text)`;
