/**
 * The SQL of a world: what creates its schemas, types, relations, functions, grants and comments, in an order that works.
 */
import { routineStatements } from './generate-routines.ts';
import type { Random } from './random.ts';
import {
  type Column,
  type ForeignKey,
  type Grant,
  literal,
  qualified,
  quote,
  type Relation,
  roles,
  type World,
} from './world.ts';

/** Statements that create everything but rows and views. */
export function tableStatements(world: World, random: Random): string[] {
  const tables = world.relations.filter(({ kind }) => kind === 'table');
  return [
    ...world.schemas.flatMap(({ name, inflect, maxRows, exactNumbers, jsonValues }) => [
      `create schema ${quote(name)}`,
      `grant usage on schema ${quote(name)} to anon, authenticated, service_role`,
      comment(`schema ${quote(name)}`, {
        inflect_names: inflect,
        introspection: true,
        ...(maxRows !== null && { max_rows: maxRows }),
        ...(exactNumbers && { numbers: 'text' }),
        ...(jsonValues && { json: 'value' }),
      }),
    ]),
    ...world.typeStatements,
    ...tables.flatMap((table) => createTable(table, random)),
  ];
}

/** Statements that need the tables' rows: foreign keys, views, functions, policies, grants, comments. */
export function finishingStatements(world: World): string[] {
  const constraints = world.foreignKeys.filter(({ kind }) => kind === 'constraint');
  return [
    ...constraints.flatMap(createForeignKey),
    ...world.relations.filter(({ definition }) => definition !== null).map(createView),
    ...world.routines.flatMap(routineStatements),
    ...world.schemas.map(({ name }) => `grant usage on all sequences in schema ${quote(name)} to ${roles.join(', ')}`),
    ...world.relations.flatMap((relation) => [...grantStatements(relation), ...commentStatements(world, relation)]),
    ...world.relations.flatMap(({ policies, ...relation }) =>
      policies === null ? [] : [`alter table ${qualified(relation)} enable row level security`, ...policies],
    ),
  ];
}

function createTable(table: Relation, random: Random): string[] {
  const columns = table.columns.map(declareColumn);
  const key = random.shuffle(table.key).map(quote).join(', ');
  const uniques = table.uniques.map((names) => `unique (${names.map(quote).join(', ')})`);
  const serials = table.columns.filter(({ kind }) => kind === 'serial');
  return [
    `create table ${qualified(table)} (\n  ${[...columns, `primary key (${key})`, ...uniques].join(',\n  ')}\n)`,
    ...serials.map(
      (column) => `select setval(pg_get_serial_sequence(${literal(qualified(table))}, ${literal(column.name)}), 1000)`,
    ),
  ];
}

function declareColumn({ name, type, kind, notNull, expression, default: value }: Column): string {
  const serial = type.sql === 'bigint' ? 'bigserial' : 'serial';
  if (kind === 'serial') return `${quote(name)} ${serial}`;
  if (kind === 'identity') return `${quote(name)} ${type.sql} generated always as identity (start with 1000)`;
  if (kind === 'generated') return `${quote(name)} ${type.sql} generated always as (${expression}) stored`;
  const words = [...(notNull ? ['not null'] : []), ...(value === null ? [] : [`default ${literal(value)}`])];
  return [quote(name), type.sql, ...words].join(' ');
}

function createForeignKey({ name, from, columns, to, toColumns, onDelete, deferred, ...key }: ForeignKey): string[] {
  const list = (names: readonly string[]) => names.map(quote).join(', ');
  const names = {
    ...(key.foreignName && { foreign_name: key.foreignName }),
    ...(key.localName && { local_name: key.localName }),
  };
  return [
    `alter table ${qualified(from)} add constraint ${quote(name)} foreign key (${list(columns)}) references ${qualified(to)} ` +
      `(${list(toColumns)}) on delete ${onDelete}${deferred ? ' deferrable initially deferred' : ''}`,
    ...(Object.keys(names).length > 0 ? [comment(`constraint ${quote(name)} on ${qualified(from)}`, names)] : []),
  ];
}

function createView(view: Relation): string {
  const options = view.invoker ? ' with (security_invoker = true)' : '';
  return `create ${view.kind} ${qualified(view)}${options} as ${view.definition}`;
}

function grantStatements(relation: Relation): string[] {
  return roles.flatMap((role) => {
    const grant = relation.grants[role];
    if (!grant) return [];
    const granted = (['select', 'insert', 'update'] as const).flatMap((privilege) =>
      grantWords(privilege, grant[privilege]),
    );
    const words = [...granted, ...(grant.delete ? ['delete'] : [])];
    return words.length === 0 ? [] : [`grant ${words.join(', ')} on ${qualified(relation)} to ${role}`];
  });
}

function grantWords(privilege: string, columns: Grant['select']): string[] {
  if (columns === 'all') return [privilege];
  return columns.length === 0 ? [] : [`${privilege} (${columns.map(quote).join(', ')})`];
}

function commentStatements(world: World, relation: Relation): string[] {
  const keys = world.foreignKeys.filter(({ kind, from }) => kind === 'directive' && from === relation);
  const directive = {
    ...(relation.directiveName !== null && { name: relation.directiveName }),
    ...(relation.totalCount && { totalCount: { enabled: true } }),
    ...(relation.aggregate && { aggregate: { enabled: true } }),
    ...(relation.maxRows !== null && { max_rows: relation.maxRows }),
    ...(relation.kind !== 'table' && { primary_key_columns: relation.key }),
    ...(keys.length > 0 && { foreign_keys: keys.map(directiveKey) }),
    ...(relation.links !== null && { many_to_many: directiveLinks(relation.links) }),
  };
  const columns = relation.columns.filter(({ directiveName }) => directiveName !== null);
  return [
    comment(`${relation.kind} ${qualified(relation)}`, directive),
    ...columns.map((column) =>
      comment(`column ${qualified(relation)}.${quote(column.name)}`, { name: column.directiveName }),
    ),
  ];
}

function directiveLinks({ from, to }: NonNullable<Relation['links']>): true | object {
  return from === null && to === null ? true : { ...(from !== null && { from }), ...(to !== null && { to }) };
}

function directiveKey(key: ForeignKey): object {
  return {
    local_columns: key.columns,
    foreign_schema: key.to.schema.name,
    foreign_table: key.to.name,
    foreign_columns: key.toColumns,
    ...(key.foreignName !== null && { foreign_name: key.foreignName }),
    ...(key.localName !== null && { local_name: key.localName }),
  };
}

function comment(object: string, directive: object): string {
  return `comment on ${object} is ${literal(`Some text. @graphql(${JSON.stringify(directive)}) And (more).`)}`;
}
