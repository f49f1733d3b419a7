/**
 * What the API shows of a world to one role: names and fields, derived from the rules.
 * The generator of operations and the evaluator read it; the product's own model is not consulted.
 */
import { type AggregateFunction, aggregateFunctions, resultsOf } from './types.ts';
import {
  type Column,
  columnOf,
  type ForeignKey,
  type Grant,
  type Relation,
  type Role,
  type Routine,
  type Schema,
  type World,
} from './world.ts';

/** A field that leads to related rows. */
export interface Relationship {
  readonly kind: 'to-one' | 'to-many';
  readonly key: ForeignKey;
  readonly direction: 'out' | 'in';
  readonly target: Relation;
  /** The key from the junction table, whose `key` leads here, to the rows that are linked; null: `key` leads to them itself. */
  readonly far: ForeignKey | null;
}

/** A field of an object type. */
export type Field =
  | { readonly kind: 'nodeId' }
  | { readonly kind: 'column'; readonly column: Column }
  | Relationship
  | { readonly kind: 'computed'; readonly routine: Routine }
  /** How well the words of a column fit a search. */
  | { readonly kind: 'rank'; readonly column: Column };

/** What a filter computes of related rows. */
export type Computation = 'distinctCount' | AggregateFunction;

/** A relation as a role sees it, without what filters ask of the rows of others. */
interface Unrelated {
  readonly relation: Relation;
  readonly base: string;
  /** Columns that the role may select, also those without a name in the API. */
  readonly readable: readonly Column[];
  readonly fields: ReadonlyMap<string, Field>;
  /** Columns that the role may select, the API shows and that have a name there. */
  readonly columns: ReadonlyMap<string, Column>;
  readonly filters: ReadonlyMap<string, Column>;
  readonly insertable: ReadonlyMap<string, Column>;
  readonly updatable: ReadonlyMap<string, Column>;
  readonly canInsert: boolean;
  readonly canUpdate: boolean;
  readonly canDelete: boolean;
  readonly hasByPk: boolean;
  readonly maxRows: number;
  /** Cursors lose no row. */
  readonly isExact: boolean;
  /** `totalCount` can be told to count no further than a number. */
  readonly isCapped: boolean;
  /** Columns whose fields answer a part of their JSON. */
  readonly parted: ReadonlySet<Column>;
}

/** A relation as a role sees it. */
export interface Entity extends Unrelated {
  /** Relationships that its filter has entries for. */
  readonly related: ReadonlyMap<string, Relationship>;
  /** Relationships that its order has entries for. */
  readonly ordered: ReadonlyMap<string, Relationship>;
  /** Functions of its rows that they are ordered by, each with the column whose value it gives. */
  readonly orderFunctions: ReadonlyMap<string, Column>;
  /** What other rows are ordered by that is computed of its columns, beside their number. */
  readonly orderComputations: ReadonlyMap<Computation, ReadonlyMap<string, Column>>;
  /** Columns whose words are searched. */
  readonly searches: ReadonlyMap<string, Column>;
  /** Searched columns by whose rank rows are ordered. */
  readonly ranks: ReadonlyMap<string, Column>;
  /** Functions with an argument behind the row, by whose truth rows are filtered. */
  readonly filterCalls: ReadonlyMap<string, Routine>;
  /** Functions with an argument behind the row, by whose value rows are ordered. */
  readonly orderCalls: ReadonlyMap<string, Routine>;
  /** Columns whose contents are filtered by. */
  readonly json: ReadonlyMap<string, Column>;
  /** What can be computed of its columns where it is filtered by; null: its rows are not even counted. */
  readonly computations: ReadonlyMap<Computation, ReadonlyMap<string, Column>> | null;
  /** How its rows are grouped; null: they are not. */
  readonly groups: Groups | null;
  /** Columns by which rows are grouped, also those of other tables that refer to them; empty: there are no types for it. */
  readonly groupKeys: ReadonlyMap<string, Column>;
  /** Relationships to rows by whose columns its rows are grouped. */
  readonly groupPaths: ReadonlyMap<string, Relationship>;
  /** Columns of which rows with equal values count once. */
  readonly distinctOn: ReadonlyMap<string, Column>;
  /** Columns whose different values are counted. */
  readonly distinctCounts: ReadonlyMap<string, Column>;
  /** The functions of its aggregates, with their columns. */
  readonly functions: ReadonlyMap<AggregateFunction, ReadonlyMap<string, Column>>;
  /** Columns whose values are counted. */
  readonly counted: readonly string[];
}

/** What groups are made and chosen by. */
export interface Groups {
  readonly keys: ReadonlyMap<string, Column>;
  /** What \`having\` can ask of the columns; null: there is no such argument. */
  readonly computations: Entity['computations'];
  /** Whether there is \`orderBy\`. */
  readonly isOrdered: boolean;
}

/** Everything a role sees. */
export interface ExpectedModel {
  readonly role: Role;
  readonly entities: ReadonlyMap<Relation, Entity>;
  readonly routines: ReadonlyMap<string, Routine>;
}

/** Derives what a role sees. */
export function expectedModelOf(world: World, role: Role): ExpectedModel {
  const visible = world.relations.filter((relation) => isSelectValid(relation, role));
  const unrelated = visible.map((relation) => entityOf(world, relation, role, visible));
  const entities = new Map(unrelated.map((entity) => [entity.relation, relate(world, entity, unrelated)]));
  const routines = world.routines.filter(
    (routine) => routine.of === null && !routine.revoked.includes(role) && resultIsVisible(routine, visible),
  );
  return { role, entities, routines: new Map(routines.map((routine) => [routineName(routine), routine])) };
}

/** The base name with its first letter lower-cased, as fields have it. */
export function lowerFirst(name: string): string {
  return name.slice(0, 1).toLowerCase() + name.slice(1);
}

/** Name of an argument of a root function. */
export function argumentName(routine: Routine, name: string): string {
  return routine.schema.inflect ? lowerFirst(baseForm(routine.schema, name)) : lowerFirst(name);
}

/** GraphQL name of a relation. */
function baseName(relation: Relation): string {
  return relation.directiveName ?? baseForm(relation.schema, relation.name);
}

/** Name of a function's field. */
function routineName(routine: Routine): string {
  if (routine.directiveName !== null) return routine.directiveName;
  const name = routine.name.replace(/^_/, '');
  return lowerFirst(baseForm(routine.schema, name));
}

/** Field name of a column; null where it is no GraphQL name. */
export function columnName(relation: Relation, column: Column): string | null {
  const inflected = relation.schema.inflect ? lowerFirst(baseForm(relation.schema, column.name)) : column.name;
  const name = column.directiveName ?? inflected;
  return isName(name) ? name : null;
}

function isName(name: string): boolean {
  return /^(?!__)[A-Za-z_][A-Za-z0-9_]*$/.test(name);
}

/** Whether the role may select the column. */
function maySelect(relation: Relation, role: Role, column: string): boolean {
  return allows(relation.grants[role]?.select ?? [], column);
}

/** Base form of an SQL name. */
function baseForm(schema: Schema, name: string): string {
  if (!schema.inflect) return name;
  return [...name]
    .map((character, index, all) => (/[\p{L}\p{N}]/u.test(all[index - 1] ?? '.') ? character : character.toUpperCase()))
    .join('')
    .replaceAll('_', '');
}

function isSelectValid(relation: Relation, role: Role): boolean {
  return (
    isName(baseName(relation)) &&
    relation.key.length > 0 &&
    relation.columns.some(({ name }) => maySelect(relation, role, name))
  );
}

function entityOf(world: World, relation: Relation, role: Role, visible: readonly Relation[]): Unrelated {
  const grant = relation.grants[role] as Grant;
  const columns = named(relation, (column) => maySelect(relation, role, column.name));
  const isWritable = relation.kind !== 'materialized view';
  const writable = (columnsGranted: Grant['insert']) =>
    named(relation, (column) => column.kind === 'free' && allows(columnsGranted, column.name));
  const insertable = isWritable ? writable(grant.insert) : new Map();
  const updatable = isWritable ? writable(grant.update) : new Map();
  const filters = [...columns].filter(
    ([name, column]) => column.type.operators.length > 0 && !isEnumList(column) && name !== 'nodeId',
  );
  return {
    relation,
    base: baseName(relation),
    readable: relation.columns.filter(({ name }) => maySelect(relation, role, name)),
    fields: fieldsOf(world, relation, role, visible),
    columns,
    filters: new Map(filters),
    insertable,
    updatable,
    canInsert: insertable.size > 0,
    canUpdate: updatable.size > 0,
    canDelete: isWritable && grant.delete,
    hasByPk: relation.key.every((name) => columnOf(relation, name).type.canByPk),
    maxRows: relation.maxRows ?? relation.schema.maxRows ?? 30,
    isExact: world.extensions.includes('reads'),
    isCapped: world.extensions.includes('reads'),
    parted: new Set(world.extensions.includes('reads') ? [...columns.values()].filter(isJson) : []),
  };
}

/** Names of the extension displace nothing: an entry whose name is taken, or whose type's, is left out. */
function relate(world: World, entity: Unrelated, all: readonly Unrelated[]): Entity {
  const nothing = {
    related: new Map(),
    json: new Map(),
    searches: new Map(),
    ranks: new Map(),
    filterCalls: new Map(),
    orderCalls: new Map(),
    computations: null,
    groups: null,
    groupKeys: new Map(),
    groupPaths: new Map(),
    distinctOn: new Map(),
    ordered: new Map(),
    orderFunctions: new Map(),
    orderComputations: new Map(),
    distinctCounts: new Map(),
    counted: [],
  };
  const aggregates = functionsOf(entity, world.extensions.length > 0);
  if (world.extensions.length === 0) return { ...entity, ...nothing, functions: aggregates };
  const isFree = (type: string) =>
    all.every(({ base }) => ['', 'Filter', 'OrderBy'].every((suffix) => type !== `${base}${suffix}`));
  const related = [...entity.fields].flatMap(([name, field]): [string, Relationship][] => {
    if (field.kind !== 'to-one' && field.kind !== 'to-many') return [];
    const hasType = field.kind === 'to-one' || isFree(`${baseName(field.target)}CollectionFilter`);
    return hasType && !entity.filters.has(name) && !['and', 'or', 'not'].includes(name) ? [[name, field]] : [];
  });
  const isSortable = (other: Unrelated | undefined) =>
    [...(other?.columns.values() ?? [])].some(({ type }) => type.canOrder);
  const ordered = [...entity.fields].flatMap(([name, field]): [string, Relationship][] => {
    if (field.kind !== 'to-one' && field.kind !== 'to-many') return [];
    const hasType =
      field.kind === 'to-one'
        ? isSortable(all.find((other) => other.relation === field.target))
        : isFree(`${baseName(field.target)}AggregateOrderBy`);
    return hasType && isSortable(entity) && !entity.columns.get(name)?.type.canOrder ? [[name, field]] : [];
  });
  const taken = new Set(['nodeId', 'and', 'or', 'not', ...entity.filters.keys(), ...related.map(([name]) => name)]);
  const { base, relation } = entity;
  const groupable = new Map([...entity.columns].filter(([, { type }]) => type.canOrder && type.graphql !== 'Opaque'));
  const distinct = groupable.size > 0 ? [['distinctCount', groupable] as const] : [];
  const computed: readonly (readonly [Computation, ReadonlyMap<string, Column>])[] = [...distinct, ...aggregates];
  const filterOf = (name: Computation) =>
    `${base}${name === 'distinctCount' ? 'DistinctCount' : 'AggregateColumn'}Filter`;
  const asked = isFree(`${base}AggregateFilter`) ? new Map(computed.filter(([name]) => isFree(filterOf(name)))) : null;
  const keys = keysOf(entity);
  const hasKeys = (other: Unrelated) =>
    keysOf(other).size > 0 && ['Column', 'GroupBy', 'GroupKey'].every((name) => isFree(`${other.base}${name}`));
  const paths = [...entity.fields].flatMap(([name, field]): [string, Relationship][] => {
    const target = field.kind === 'to-one' ? all.find((other) => other.relation === field.target) : undefined;
    if (field.kind !== 'to-one' || target === undefined || !hasKeys(target)) return [];
    return ['column', 'truncate', 'timeZone'].includes(name) || keys.has(name) ? [] : [[name, field]];
  });
  const functions = [...entity.fields].flatMap(([name, field]): [string, Column][] =>
    field.kind === 'computed' && field.routine.entry !== null ? [[name, field.routine.entry]] : [],
  );
  const calls = [...entity.fields].flatMap(([name, field]): [string, Routine][] =>
    field.kind === 'computed' && field.routine.takes !== null ? [[name, field.routine]] : [],
  );
  const entries = functions.filter(([name]) => !taken.has(name));
  const json = [...entity.columns, ...entries].filter(([name, column]) => isJson(column) && !taken.has(name));
  const lists = [...entity.columns].filter(([name, column]) => isEnumList(column) && !taken.has(name));
  const filters = [...entity.filters, ...entries.filter(([, column]) => !isJson(column)), ...lists];
  const isSearched = ({ type }: Column) => type.sql === 'tsvector';
  const ranks = [...entity.columns].flatMap(([name, column]): [string, Field][] =>
    isSearched(column) && !entity.fields.has(`${name}Rank`) ? [[`${name}Rank`, { kind: 'rank', column }]] : [],
  );
  const sortable = functions.filter(([, column]) => !isJson(column) && !isSearched(column));
  const isOrder = (name: string) =>
    isSortable(entity) && !entity.columns.has(name) && ordered.every(([other]) => other !== name);
  return {
    ...entity,
    fields: new Map([...entity.fields, ...ranks]),
    filters: new Map(filters.filter(([, column]) => !isSearched(column))),
    searches: new Map(filters.filter(([, column]) => isSearched(column))),
    ranks: new Map(
      [...entity.filters]
        .filter(([, column]) => isSearched(column))
        .map(([name, column]) => [`${name}Rank`, column] as const)
        .filter(([name]) => isOrder(name)),
    ),
    filterCalls: new Map(calls.filter(([name, { takes }]) => takes?.by !== 'filling' && !taken.has(name))),
    orderCalls: new Map(calls.filter(([name]) => isOrder(name))),
    orderFunctions: new Map(sortable.filter(([name]) => isSortable(entity) && !entity.columns.has(name))),
    related: new Map(related),
    ordered: new Map(ordered),
    orderComputations: isSortable(entity) ? aggregates : new Map(),
    json: new Map(json),
    computations: asked,
    groups:
      relation.aggregate && hasKeys(entity)
        ? { keys, computations: asked, isOrdered: isFree(`${base}AggregateOrderBy`) }
        : null,
    groupKeys: hasKeys(entity) ? keys : new Map(),
    groupPaths: new Map(paths),
    distinctOn: isFree(`${base}Column`) ? keys : new Map(),
    functions: new Map(
      [...aggregates].filter(([name]) => resultsOf(name) !== 'Bool' || isFree(`${base}BoolAggregateResult`)),
    ),
    counted: isFree(`${base}Column`) ? [...keys.keys()] : [],
    distinctCounts: relation.aggregate && isFree(`${base}DistinctCount`) ? groupable : new Map(),
  };
}

/** Columns with an order, whose names can be values of an enum. */
function keysOf({ columns }: Unrelated): ReadonlyMap<string, Column> {
  const isKey = (name: string, { type }: Column) =>
    type.canOrder && type.graphql !== 'Opaque' && !['true', 'false', 'null'].includes(name);
  return new Map([...columns].filter(([name, column]) => isKey(name, column)));
}

/** The functions that take columns of the relation. */
function functionsOf({ relation, columns }: Unrelated, isExtended: boolean): Entity['functions'] {
  const names = (isExtended ? aggregateFunctions : ['sum', 'avg', 'min', 'max']) as readonly AggregateFunction[];
  return new Map(
    names.flatMap((name) => {
      const taken = [...columns].filter(([, { type }]) => relation.aggregate && takes(name, type));
      return taken.length > 0 ? [[name, new Map(taken)] as const] : [];
    }),
  );
}

function takes(name: AggregateFunction, type: Column['type']): boolean {
  const results = resultsOf(name);
  if (results === 'Bool') return type.graphql === 'Boolean' && !type.isList;
  return results === 'Sum' || results === 'Avg' ? type.canSum : type.canCompare;
}

function fieldsOf(world: World, relation: Relation, role: Role, visible: readonly Relation[]): Map<string, Field> {
  const fields = new Map<string, { readonly field: Field; readonly place: number }>();
  // Of two with one name the later one wins, but what comes from another schema takes no name from an earlier one.
  const add = (name: string | null, maker: Schema, field: Field): void => {
    if (name === null || name === 'nodeId' || !isName(name)) return;
    const place = Math.max(world.schemas.indexOf(relation.schema), world.schemas.indexOf(maker));
    if ((fields.get(name)?.place ?? place) >= place) fields.set(name, { field, place });
  };
  for (const [name, column] of named(relation, ({ name }) => maySelect(relation, role, name)))
    add(name, relation.schema, { kind: 'column', column });
  const used = world.foreignKeys.filter((key) => isUsed(key, role));
  const ordered = [
    ...used.filter(({ kind }) => kind === 'constraint'),
    ...used.filter(({ kind }) => kind === 'directive'),
  ];
  for (const key of ordered) {
    if (key.from === relation && visible.includes(key.to)) {
      add(outboundName(key), relation.schema, { kind: 'to-one', key, direction: 'out', target: key.to, far: null });
    }
  }
  for (const key of ordered) {
    if (key.to !== relation || !visible.includes(key.from)) continue;
    const kind = isLocallyUnique(key) ? 'to-one' : 'to-many';
    add(inboundName(key, kind), key.from.schema, { kind, key, direction: 'in', target: key.from, far: null });
  }
  for (const routine of world.routines) {
    if (routine.of !== relation || routine.revoked.includes(role) || !resultIsVisible(routine, visible)) continue;
    if (relation.grants[role]?.select !== 'all') continue;
    if (routine.takes !== null && world.extensions.length === 0) continue;
    add(routineName(routine), routine.schema, { kind: 'computed', routine });
  }
  // Where a field has the name without them, it stays.
  if (world.extensions.length > 0) {
    for (const [name, field] of linksOf(relation, ordered, visible))
      if (isName(name) && name !== 'nodeId' && !fields.has(name)) add(name, relation.schema, field);
  }
  const kept = [...fields].map(([name, { field }]): [string, Field] => [name, field]);
  return new Map<string, Field>([['nodeId', { kind: 'nodeId' }], ...kept]);
}

/** What junction tables add to a relation: collections of what its rows are linked to. */
function linksOf(
  relation: Relation,
  used: readonly ForeignKey[],
  visible: readonly Relation[],
): [string, Relationship][] {
  return visible.flatMap((table): [string, Relationship][] => {
    const keys = used.filter(
      (key) => key.from === table && visible.includes(key.to) && isName(outboundName(key) ?? ''),
    );
    const [from, to, ...others] = keys;
    if (table.links === null || from === undefined || to === undefined || others.length > 0) return [];
    const side = (near: ForeignKey, far: ForeignKey, name: string | null): [string, Relationship][] => {
      const field = { kind: 'to-many', key: near, direction: 'in', target: far.to, far } as const;
      return near.to === relation ? [[name ?? `${lowerFirst(baseName(far.to))}Collection`, field]] : [];
    };
    return [...side(from, to, table.links.from), ...side(to, from, table.links.to)];
  });
}

function named(relation: Relation, isWanted: (column: Column) => boolean): Map<string, Column> {
  const columns = relation.columns.filter(isWanted).flatMap((column): [string, Column][] => {
    const name = columnName(relation, column);
    return name === null ? [] : [[name, column]];
  });
  return new Map(columns);
}

function isEnumList({ type }: Column): boolean {
  return type.isList && type.labels !== null;
}

function isJson({ type }: Column): boolean {
  return type.graphql === 'JSON' && !type.isList;
}

function allows(granted: readonly string[] | 'all', column: string): boolean {
  return granted === 'all' || granted.includes(column);
}

function isUsed(key: ForeignKey, role: Role): boolean {
  return (
    key.columns.every((name) => maySelect(key.from, role, name)) &&
    key.toColumns.every((name) => maySelect(key.to, role, name))
  );
}

/** Whether at most one row of the referencing side belongs to a row of the other. */
function isLocallyUnique(key: ForeignKey): boolean {
  const indexes = key.from.kind === 'table' ? [key.from.key, ...key.from.uniques] : [];
  return indexes.some((columns) => columns.length > 0 && columns.every((column) => key.columns.includes(column)));
}

function outboundName(key: ForeignKey): string | null {
  return key.foreignName ?? strippedName(key.to, key.columns) ?? lowerFirst(baseName(key.to));
}

function inboundName(key: ForeignKey, kind: 'to-one' | 'to-many'): string | null {
  if (key.localName !== null) return key.localName;
  const base = lowerFirst(baseName(key.from));
  return kind === 'to-many' ? `${base}Collection` : (strippedName(key.from, key.toColumns) ?? base);
}

function strippedName(other: Relation, columns: readonly string[]): string | null {
  const suffix = other.schema.inflect ? '_id' : 'Id';
  const [column = '', ...more] = columns;
  if (more.length > 0 || !column.endsWith(suffix)) return null;
  return lowerFirst(baseForm(other.schema, column.slice(0, -suffix.length)));
}

function resultIsVisible(routine: Routine, visible: readonly Relation[]): boolean {
  return routine.result.kind === 'value' || visible.includes(routine.result.relation);
}
