/** The document and the variables of a write. */
import type { GraphQLSchema } from 'graphql';
import type { Random } from '../property/random.ts';
import type { Filter, Values } from './values.ts';
import type { Reference, Table } from './world.ts';
import type { Change, Children, Conflict, Tree, Write } from './write.ts';

/** A word of GraphQL: in variables a string, in documents without quotes. */
class Word {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
  toJSON(): string {
    return this.name;
  }
}

/** What is sent. */
export interface Document {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Related rows that records show. */
export interface Below {
  readonly down: readonly {
    readonly field: string;
    readonly table: Table;
    readonly reference: Reference;
    readonly columns: readonly string[];
  }[];
}

export function documentOf(write: Write, schema: GraphQLSchema, below: Below, random: Random): Document {
  const { kind, table, columns } = write;
  const field = `${kind === 'insert' ? 'insertInto' : kind === 'delete' ? 'deleteFrom' : kind}${table.name}Collection`;
  const defined = schema.getMutationType()?.getFields()[field]?.args ?? [];
  const types = new Map(defined.map(({ name, type }) => [name, String(type)]));
  const given = argumentsOf(write).map(([name, value]) => ({ name, value, asVariable: random.chance(0.5) }));
  const inVariables = given.filter(({ asVariable }) => asVariable);
  const declared = inVariables.map(({ name }) => `$${name}: ${types.get(name)}`).join(', ');
  const passed = given.map(({ name, value, asVariable }) => `${name}: ${asVariable ? `$${name}` : literal(value)}`);
  const nested = below.down.map(
    (each) => `${each.field}(first: 1000) { edges { node { ${each.columns.join(' ')} } } }`,
  );
  const records = `records { ${[...columns, ...nested].join(' ') || '__typename'} }`;
  return {
    query: `mutation${declared === '' ? '' : ` (${declared})`} { it: ${field}(${passed.join(', ')}) { affectedCount ${records} } }`,
    variables: JSON.parse(JSON.stringify(Object.fromEntries(inVariables.map(({ name, value }) => [name, value])))),
  };
}

function argumentsOf(write: Write): [string, unknown][] {
  switch (write.kind) {
    case 'insert':
      return [
        ['objects', write.trees.map(objectOf)],
        ...(write.conflict ? [['onConflict', conflictOf(write.conflict)] as [string, unknown]] : []),
      ];
    case 'update':
      return Object.entries(changeOf(write.change));
    case 'updateMany':
      return [['updates', write.changes.map(changeOf)]];
    case 'delete':
      return [
        ['filter', filterOf(write.filter)],
        ['atMost', write.atMost],
      ];
  }
}

function objectOf({ values, up, down }: Tree): object {
  const related = [
    ...up.map(({ reference, tree, conflict }) => [reference.up, nestedOf(objectOf(tree), conflict)]),
    ...down.map((children: Children) => [
      children.reference.down,
      nestedOf(children.trees.map(objectOf), children.conflict),
    ]),
  ];
  return { ...Object.fromEntries(values), ...Object.fromEntries(related) };
}

function nestedOf(insert: object, conflict: Conflict | null): object {
  return conflict === null ? { insert } : { insert, onConflict: conflictOf(conflict) };
}

function conflictOf({ constraint, columns, filter }: Conflict): object {
  return {
    constraint: new Word(constraint),
    ...(columns.length > 0 && { updateColumns: columns.map((column) => new Word(column)) }),
    ...(filter.length > 0 && { filter: filterOf(filter) }),
  };
}

function changeOf({ set, operators, related, filter, atMost }: Change): object {
  const changes: Record<string, Record<string, unknown>> = {};
  for (const { name, column, value } of operators) changes[name] = { ...changes[name], [column.name]: value };
  const entries = related.map(({ reference, deletes, updates, trees, conflict }) => {
    const members = {
      ...(deletes.length > 0 && { delete: deletes.map((each) => ({ ...each, filter: filterOf(each.filter) })) }),
      ...(updates.length > 0 && { update: updates.map(changeOf) }),
      ...(trees.length > 0 && nestedOf(trees.map(objectOf), conflict)),
    };
    return [reference.down, members];
  });
  const values = { ...Object.fromEntries(set as Values), ...Object.fromEntries(entries) };
  return { set: values, ...changes, filter: filterOf(filter), atMost };
}

function filterOf(filter: Filter): object {
  return Object.fromEntries(filter.map(({ column, operator, value }) => [column.name, { [operator]: value }]));
}

function literal(value: unknown): string {
  if (value instanceof Word) return value.name;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, member]) => `${name}: ${literal(member)}`)
    .join(', ')}}`;
}
