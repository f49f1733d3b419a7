/**
 * Invents the functions of a world: computed fields (a value, a row, a set) and root functions with arguments and defaults.
 */
import type { Ground } from './generate-world.ts';
import { arrayText } from './rows.ts';
import { listOf, type Type } from './types.ts';
import {
  type Column,
  columnOf,
  literal,
  qualified,
  quote,
  type Relation,
  type Role,
  type Routine,
  type RoutineArgument,
  roles,
} from './world.ts';

/** Invents functions over relations. */
export function generateRoutines(ground: Ground, relations: readonly Relation[]): Routine[] {
  const { random } = ground;
  return relations
    .flatMap((relation, index) => [
      ...(random.chance(0.6) ? [makeValue(ground, relation, index)] : []),
      ...(random.chance(0.5) ? makeCall(ground, relation, index) : []),
      ...(random.chance(0.4) ? [rowsOf(ground, relation, random.pick(relations), index)] : []),
      ...(random.chance(0.4) && hasPlainKey(relation) ? [rootRows(ground, relation, index)] : []),
      ...(random.chance(0.3) ? [rootValue(ground, index)] : []),
    ])
    .map((routine) => ({ ...routine, revoked: [...new Set([...routine.revoked, ...rolesThatWouldFail(routine)])] }));
}

/** A function runs with its caller's rights: a role that may not read what it reads gets no answer but an error. */
function rolesThatWouldFail({ result }: Routine): Role[] {
  return result.kind === 'value' ? [] : roles.filter((role) => result.relation.grants[role]?.select !== 'all');
}

function hasPlainKey(relation: Relation): boolean {
  return columnOf(relation, relation.key[0] as string).type.labels === null;
}

/** An argument's type as PostgreSQL sees it: a modifier is dropped. */
function withoutModifier(type: Type): Type {
  const sql = type.sql === 'character(3)' ? 'bpchar' : type.sql.replace(/\(\d+(,\d+)?\)/, '');
  return { ...type, sql, maxLength: null };
}

function makeValue(ground: Ground, relation: Relation, index: number): Routine {
  const { random } = ground;
  const column = random.pick(relation.columns.filter(({ kind }) => kind !== 'generated'));
  return {
    ...common(ground, `_value_of${index}`),
    of: relation,
    arguments: [],
    result: { kind: 'value', type: column.type },
    entry: (canBeEntry(column) || canOnlyFilter(column)) && random.chance(0.7) ? column : null,
    body: `select rec.${quote(column.name)}`,
  };
}

/** A function of a row and an argument: whether a value is greater or in a list, or a value in place of null. */
function makeCall(ground: Ground, relation: Relation, index: number): Routine[] {
  const { random } = ground;
  const columns = relation.columns.filter(canBeEntry);
  if (columns.length === 0) return [];
  const column = random.pick(columns);
  const { type } = column;
  const by = random.pick(['filling', 'comparing', 'comparing', 'listing'] as const);
  // With a comma in a default, pg_graphql takes every argument for required.
  const plain = type.values.filter((text) => !text.includes(','));
  const isOptional = plain.length > 0 && (by === 'filling' || random.chance(0.3));
  const taken = by === 'listing' ? listOf(type, false) : type;
  const text = isOptional ? random.pick(plain) : null;
  const value = text === null ? null : `${literal(by === 'listing' ? arrayText([text]) : text)}::${taken.sql}`;
  const cell = `rec.${quote(column.name)}`;
  const boolean = ground.types.find(({ sql }) => sql === 'boolean')!;
  return [
    {
      ...common(ground, `${{ filling: 'filled', comparing: 'above', listing: 'listed' }[by]}_${index}`),
      of: relation,
      arguments: [{ name: 'given_one', type: taken, default: value }],
      result: { kind: 'value', type: by === 'filling' ? type : boolean },
      takes: { column, by },
      body: `select ${operation(by, cell, 'given_one')}`,
    },
  ];
}

function operation(by: NonNullable<Routine['takes']>['by'], value: string, operand: string): string {
  switch (by) {
    case 'filling':
      return `coalesce(${value}, ${operand})`;
    case 'comparing':
      return `${value} > ${operand}`;
    case 'listing':
      return `${value} = any (${operand})`;
  }
}

/** SQL of what such a function makes of the value `v` of its column. @param given SQL of the argument; null: it is left out. */
export function callExpression({ takes, arguments: [argument] }: Routine, given: string | null): string {
  const { type, default: value } = argument!;
  return operation(takes!.by, `v::${takes!.column.type.sql}`, given === null ? value! : `(${given})::${type.sql}`);
}

/** A modifier of the type is none of the function's. */
function canBeEntry({ type }: Column): boolean {
  return type.canCompare && type.canOrder && !type.isList && !/[("]/.test(type.sql);
}

/** By what is in JSON or in a text, and not by its order. */
function canOnlyFilter({ type }: Column): boolean {
  return !type.isList && ['jsonb', 'tsvector'].includes(type.comparedAs ?? type.sql);
}

function rowsOf(ground: Ground, relation: Relation, other: Relation, index: number): Routine {
  const { random } = ground;
  const kind = random.pick(['row', 'set'] as const);
  const pair = joinable(relation, other);
  const condition = pair ? `o.${quote(pair[1].name)} is not distinct from rec.${quote(pair[0].name)}` : 'true';
  const limit = kind === 'row' ? ` order by ${orderOf(other)} limit 1` : '';
  return {
    ...common(ground, `rows_of${index}`),
    of: relation,
    arguments: [],
    result: { kind, relation: other },
    body: `select ${columnsOf(other)} from ${qualified(other)} as o where ${condition}${limit}`,
  };
}

function rootRows(ground: Ground, relation: Relation, index: number): Routine {
  const { random } = ground;
  const kind = random.pick(['row', 'set'] as const);
  const type = ground.types.find(({ sql }) => sql === 'integer') as RoutineArgument['type'];
  const column = columnOf(relation, relation.key[0] as string);
  return {
    ...common(ground, `find_${index}`),
    of: null,
    arguments: [
      { name: 'how_many', type, default: random.chance(0.5) ? '3' : null },
      { name: 'known', type: withoutModifier(column.type), default: 'null' },
    ],
    result: { kind, relation },
    body:
      `select ${columnsOf(relation)} from ${qualified(relation)} as o where ${quote(column.name)} is distinct from known ` +
      `order by ${orderOf(relation)} limit ${kind === 'row' ? 1 : 'greatest(how_many, 0)'}`,
  };
}

function rootValue(ground: Ground, index: number): Routine {
  const { random } = ground;
  // A plain scalar or an array of them: enums and domains disqualify a root function or are shown in another way.
  const type = random.pick(ground.types.filter(({ sql, labels }) => labels === null && !/"|bit/.test(sql)));
  const bare = withoutModifier(type);
  return {
    ...common(ground, `same_value${index}`),
    of: null,
    arguments: [{ name: 'given_one', type: bare, default: random.chance(0.3) ? 'null' : null }],
    result: { kind: 'value', type: bare },
    body: 'select given_one',
  };
}

function common(
  { random, schemas }: Ground,
  name: string,
): Pick<Routine, 'schema' | 'name' | 'directiveName' | 'entry' | 'takes' | 'revoked'> {
  return {
    schema: random.pick(schemas),
    name,
    directiveName: random.chance(0.15) ? `Fn${name}` : null,
    entry: null,
    takes: null,
    revoked: random.chance(0.15) ? [random.pick(roles)] : [],
  };
}

function joinable(relation: Relation, other: Relation): [Column, Column] | null {
  for (const column of relation.columns) {
    const match = other.columns.find(({ type }) => type.sql === column.type.sql && type.canBeKey);
    if (match) return [column, match];
  }
  return null;
}

function columnsOf(relation: Relation): string {
  return relation.columns.map((column) => `o.${quote(column.name)}`).join(', ');
}

function orderOf(relation: Relation): string {
  return relation.key.map((name) => `o.${quote(name)}`).join(', ');
}

/** The statements that create a function. */
export function routineStatements(routine: Routine): string[] {
  const { result } = routine;
  const made = result.kind === 'value' ? result.type.sql : qualified(result.relation);
  const returns = result.kind === 'set' ? `setof ${made}` : made;
  const declared = routine.arguments.map(
    (argument) =>
      `${quote(argument.name)} ${argument.type.sql}${argument.default === null ? '' : ` default ${argument.default}`}`,
  );
  const row = routine.of === null ? [] : [qualified(routine.of)];
  const signature = [...row.map((type) => `rec ${type}`), ...declared].join(', ');
  const types = [...row, ...routine.arguments.map(({ type }) => type.sql)].join(', ');
  const revokes = routine.revoked.map(
    (role) =>
      `grant execute on function ${qualified(routine)}(${types}) to ${roles.filter((other) => other !== role).join(', ')}`,
  );
  return [
    `create function ${qualified(routine)}(${signature}) returns ${returns} stable language sql as ${literal(routine.body)}`,
    ...(routine.revoked.length > 0
      ? [`revoke execute on function ${qualified(routine)}(${types}) from public`, ...revokes.slice(0, 1)]
      : []),
    ...(routine.directiveName === null && routine.entry === null && routine.takes === null
      ? []
      : [`comment on function ${qualified(routine)}(${types}) is ${literal(`@graphql(${directiveOf(routine)})`)}`]),
  ];
}

function directiveOf({ directiveName, entry, takes }: Routine): string {
  return JSON.stringify({
    ...(directiveName !== null && { name: directiveName }),
    // With an argument, rows are filtered by a truth alone.
    ...((entry !== null || takes !== null) && {
      filter: takes?.by !== 'filling',
      order: entry === null || canBeEntry(entry),
    }),
  });
}
