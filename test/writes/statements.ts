/** Statements of the reference: rows in plain SQL, and errors as the gateway names them. */
import pg from 'pg';
import type { RelatedCondition, RelatedFilter, Value } from './values.ts';
import type { Table } from './world.ts';
import type { Key } from './write.ts';

export type Row = Readonly<Record<string, unknown>>;

/**
 * Events of refusals that are always compared: others are mostly left out, for little of a refused write is compared.
 *
 * There are rows that the role does not see; a link names one of them; more rows than allowed; a key that a row has.
 */
export const telling = {
  rowsHidden: 'rows hidden',
  hiddenNamed: 'hidden row to connect',
  exceeded: 'more rows than atMost',
  taken: 'key taken',
} as const;

export class Refusal extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

export interface Run {
  readonly client: pg.ClientBase;
  readonly refused: Set<string>;
  readonly allowed: Set<string>;
  readonly events: Set<string>;
  /** Whether the answer shows no rows. */
  readonly isCounted: boolean;
  /** Rows of this field that others refer to, by the text of their object. */
  readonly shared: Map<string, Row | null>;
  /** Names of rows that the role does not see. */
  readonly hiddenKeys: Key[];
  /** The columns that the role may give in inserts. */
  readonly insertable: (table: Table) => ReadonlySet<string>;
  /** The columns that the role may change. */
  readonly updatable: (table: Table) => ReadonlySet<string>;
}

export async function query({ client }: Run, text: string, values: readonly Value[]): Promise<readonly Row[]> {
  return (await client.query(text, [...values])).rows;
}

/** Rows as nothing hides them. */
export async function queryAll(
  { client }: Pick<Run, 'client'>,
  text: string,
  values: readonly Value[],
): Promise<readonly Row[]> {
  const { rows: roles } = await client.query('select current_user as role');
  await client.query('reset role');
  const { rows } = await client.query(text, [...values]);
  await client.query(`set local role ${roles[0].role}`);
  return rows;
}

/** How many rows the statement writes. */
export async function countOf({ client }: Run, text: string, values: readonly Value[]): Promise<number> {
  return (await client.query(text, [...values])).rowCount ?? 0;
}

export function place({ columns }: Table, name: string, value: Value, values: Value[]): string {
  const type = columns.find((column) => column.name === name)?.type;
  return `$${values.push(value)}::${type}`;
}

const operators = { eq: '=', lt: '<', neq: '<>' };

/** @param alias Of the row that the filter is about. */
export function conditionOf(filter: RelatedFilter, values: Value[], alias = 't'): string {
  const conditions = filter.map((each) =>
    'column' in each
      ? `${alias}.${each.column.name} ${operators[each.operator]} $${values.push(each.value)}::${each.column.type}`
      : relatedCondition(each, values, alias),
  );
  return conditions.join(' and ') || 'true';
}

function relatedCondition(
  { reference, quantifier, related, filter }: RelatedCondition,
  values: Value[],
  alias: string,
): string {
  const other = `${alias}r`;
  const [holder, referenced] = quantifier === 'one' ? [alias, other] : [other, alias];
  const joined = reference.columns.map(
    (column, index) => `${holder}.${column} = ${referenced}.${reference.targetColumns[index]}`,
  );
  const condition = conditionOf(filter, values, other);
  const found = `exists (select from ${pathOf(related)} as ${other} where ${joined.join(' and ')} and (${condition})`;
  if (quantifier === 'every') return `not ${found} is not true)`;
  return quantifier === 'none' ? `not ${found})` : `${found})`;
}

export function returning(columns: readonly string[]): string {
  return columns.length === 0 ? '' : `returning ${columns.map((column) => `t.${column}`).join(', ')}`;
}

export function pathOf({ schema, name }: Table): string {
  return `${schema}.${name}`;
}

/** The gateway's code for an error of PostgreSQL. */
export function codeOf(error: unknown): string {
  if (error instanceof Refusal) return error.code;
  if (!(error instanceof pg.DatabaseError)) throw error;
  const state = error.code ?? '';
  if (state.startsWith('23') || state === '44000') return 'CONSTRAINT_VIOLATION';
  if (state.startsWith('22') || state === '428C9' || state === '21000') return 'BAD_USER_INPUT';
  if (state === '42501') return 'PERMISSION_DENIED';
  if (state === 'P0001') return 'RAISED';
  throw new Error(`The statement is wrong: ${error.message} (${state})`);
}
