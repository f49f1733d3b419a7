/** What random writes say of rows that are there: conflicts with them, and their keys. */
import {
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
} from 'graphql';
import { columnNamed, inputFields, makeRelatedFilter, makeValue, rowToMeet, type ValueSource } from './values.ts';
import type { Table } from './world.ts';
import type { Conflict, Key } from './write.ts';

/** What writes are made of. */
export interface Source extends ValueSource {
  /** What is said about conflicts at each place: objects there must say the same. */
  readonly conflicts: Map<string, Conflict | null>;
  /** All names of rows. */
  readonly keys: Key[];
}

/** @param input The input that has the entry, by its name at the end of the path. */
export function conflictAt(source: Source, table: Table, path: string, input: string): Conflict | null {
  const { random, schema, conflicts } = source;
  const isOffered = entryFields(schema, input, path.slice(path.lastIndexOf('.') + 1)).has('onConflict');
  const known = conflicts.get(path);
  if (known !== undefined) return known;
  const made =
    isOffered && random.chance(0.4) ? makeConflict(source, table, random.chance(source.isCareful ? 0.95 : 0.8)) : null;
  conflicts.set(path, made);
  return made;
}

/** The members of an entry for related rows. */
export function entryFields(schema: GraphQLSchema, input: string, entry: string): ReadonlySet<string> {
  const field = (schema.getType(input) as GraphQLInputObjectType | undefined)?.getFields()[entry];
  return inputFields(schema, field === undefined ? '' : String(getNamedType(field.type)));
}

/** @param isSure Whether each row is updated, and gets its foreign keys. */
export function makeConflict(source: Source, table: Table, isSure: boolean): Conflict | null {
  const { random, schema } = source;
  const offered = schema.getType(`${table.name}Constraint`) as GraphQLEnumType | undefined;
  const names = new Set(offered?.getValues().map(({ name }) => name));
  const uniques = table.uniques.filter(({ name }) => names.has(name));
  if (uniques.length === 0) return null;
  const { name, arbiter } = random.pick(uniques);
  const named = schema.getType(`${table.name}Column`) as GraphQLEnumType | undefined;
  const inserted = inputFields(schema, `${table.name}InsertInput`);
  const both = inserted.intersection(inputFields(schema, `${table.name}UpdateInput`));
  const allowed = (named?.getValues() ?? []).map((value) => value.name).filter((column) => both.has(column));
  const some = random.some(allowed, random.pick([0, 0.3, 0.6]));
  const foreign = table.references.flatMap((reference) => reference.columns);
  const columns = isSure ? allowed.filter((column) => foreign.includes(column) || some.includes(column)) : some;
  if (isSure && columns.length === 0 && allowed.includes('hits')) columns.push('hits');
  const changing = columns.filter((column) => !table.key.includes(column));
  const filter = !isSure && changing.length > 0 && random.chance(0.7) ? makeRelatedFilter(source, table, 2) : [];
  return { constraint: name, arbiter, columns: changing, filter };
}

/** The name of a row, mostly of one that is there; null: the role is offered no key. */
export function makeKey(source: Source, table: Table): Key | null {
  const { random, schema } = source;
  const input = schema.getType(`${table.name}Key`) as GraphQLInputObjectType | undefined;
  const entries = Object.values(input?.getFields() ?? {});
  if (entries.length === 0) return null;
  const { name, type } = random.pick(entries);
  const columns = isInputObjectType(type) ? Object.keys(type.getFields()) : [name];
  const row = random.chance(source.isCareful ? 0.98 : 0.9) ? rowToMeet(source, table) : null;
  const made = (column: string) => makeValue(source, table, columnNamed(table, column));
  const values = columns.map((column) => (row === null ? made(column) : (row[column] ?? null)));
  const key: Key = { table: table.name, name, columns, values };
  source.keys.push(key);
  return key;
}
