/**
 * Whether a PostgreSQL message about a constraint (class 23) or a privilege (42501) names only objects that the role's
 * model shows.
 *
 * Messages are in the server's language and name more than the error's fields do. So this does not search for hidden
 * names: a message passes only if every name in it is visible. Messages of `raise` are meant for clients.
 */
import type { DatabaseError } from '../../../postgres/database-error.ts';
import type { Model, Table } from '../../model/model.ts';
import { isUsed } from '../../model/tables/tables.ts';

/** Whether a client may read the message. */
export function isVisibleMessage(error: DatabaseError, model: Model | null): boolean {
  if (error.raised) return true;
  if (model === null) return false;
  switch (error.sqlstate) {
    case '42501':
      return isVisibleRight(error.primary, model);
    case '44000':
      return isVisibleName(ofView, error.primary, tableNames(model));
    case '428C9':
      return isVisibleName(ofColumn, error.primary, columnNames(model));
    default:
      return isVisibleConstraint(error, model);
  }
}

/** The table of the error; null if there is none or the role does not see it. */
export function visibleTable({ schema, table }: DatabaseError, model: Model | null): Table | null {
  if (model === null || table === null) return null;
  return tablesOf(model).find((each) => each.namespace === schema && each.name === table) ?? null;
}

function tablesOf({ tables, writeOnly }: Model): readonly Table[] {
  return [...tables.values(), ...writeOnly];
}

/** Privilege errors have no fields. Messages in languages other than English cannot be checked. */
function isVisibleRight(message: string, model: Model): boolean {
  const table = ofTable.exec(message)?.[1] ?? ofPolicies.exec(message)?.[1];
  return table !== undefined && tableNames(model).has(table);
}

const ofTable = /^permission denied for (?:table|view|materialized view|foreign table) (.+)$/s;
const ofPolicies = /^new row violates row-level security policy (?:\(USING expression\) )?for table "(.+)"$/s;

/** Errors of views and generated columns have no fields either. */
function isVisibleName(pattern: RegExp, message: string, names: ReadonlySet<string>): boolean {
  const name = pattern.exec(message)?.[1];
  return name !== undefined && names.has(name);
}

const ofView = /^new row violates check option for view "(.+)"$/s;
const ofColumn =
  /^(?:cannot insert a non-DEFAULT value into column|column) "(.+?)"(?: can only be updated to DEFAULT)?$/s;

function isVisibleConstraint(error: DatabaseError, model: Model): boolean {
  const names = namesOf(error, model);
  if (names === null) return false;
  // Longest first: a name may contain another one, or quotes.
  const known = [...names, ...tableNames(model)].filter((name) => error.primary.includes(name));
  const rest = known.sort((x, y) => y.length - x.length).reduce(withoutQuoted, error.primary);
  return !anyQuote.test(rest);
}

/** The quotes of all of PostgreSQL's languages, for a set of characters. */
export const quotes = '"«»„“”‘’‚「」『』';
const anyQuote = new RegExp(`[${quotes}]`);

function withoutQuoted(message: string, name: string): string {
  return message.replace(new RegExp(`[${quotes}]\\s?${RegExp.escape(name)}\\s?[${quotes}]`, 'gu'), '');
}

/** Names in the error's fields; null if one is hidden, or there are none. */
function namesOf(error: DatabaseError, model: Model): readonly string[] | null {
  const { dataType, column, constraint } = error;
  const own = constraint === null ? [] : [constraint];
  if (error.table === null) {
    return dataType !== null && usesType(model, error.schema, dataType) ? [...own, dataType] : null;
  }
  const table = visibleTable(error, model);
  if (table === null) return null;
  if (column === null)
    return constraint === null || isConstraintVisible(constraint, table) ? [...own, table.name] : null;
  return table.columns.some((each) => each.name === column && isUsed(each)) ? [...own, table.name, column] : null;
}

/** Whether the role uses all columns that the constraint concerns. */
export function isConstraintVisible(constraint: string, { visibleConstraints }: Table): boolean {
  return visibleConstraints?.includes(constraint) ?? true;
}

function usesType(model: Model, namespace: string | null, name: string): boolean {
  const is = (type: { readonly namespace: string; readonly name: string }) =>
    type.namespace === namespace && type.name === name;
  for (const { columns } of tablesOf(model)) {
    if (columns.some(({ cast, readable, insertable }) => (readable || insertable) && is(cast))) return true;
  }
  for (const routine of model.routines.values()) if (routine.arguments.some(({ type }) => is(type.cast))) return true;
  return false;
}

function columnNames({ tables }: Model): ReadonlySet<string> {
  const visible = [...tables.values()].flatMap(({ columns }) => columns.filter(({ readable }) => readable));
  return new Set(visible.map(({ name }) => name));
}

function tableNames(model: Model): ReadonlySet<string> {
  return new Set(tablesOf(model).map(({ name }) => name));
}
