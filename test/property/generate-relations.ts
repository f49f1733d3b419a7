/**
 * Invents the tables, views and foreign keys of a world.
 */
import type { Ground } from './generate-world.ts';
import type { Random } from './random.ts';
import type { Type } from './types.ts';
import {
  type Column,
  columnOf,
  type ForeignKey,
  type Grant,
  qualified,
  quote,
  type Relation,
  roles,
  type World,
} from './world.ts';

const tableNames = [
  'patron',
  'loan_item',
  'Volume',
  '_draft',
  'line_2nd',
  'order',
  'Gruppe',
  'vat__rate',
  'noteBook',
  'patronCollection',
  'VolumeSum',
];
const columnNames = [
  'full_name',
  'sizeCm',
  '_hidden',
  'rank',
  'and',
  'not',
  'select',
  'label',
  'due_on',
  'x1',
  'Title',
  'amount',
  'vat__rate',
  'total',
  'key',
  'a_b_c',
  'other',
  'node',
  'edges',
  'we ird',
  'naïve',
  'quo"te',
  'value',
  'cursor',
  'r',
  't',
  'json',
];

/** Invents all relations of a world; a foreign key leads to an earlier table or to its own. */
export function generateRelations(ground: Ground): Pick<World, 'relations' | 'foreignKeys'> {
  const { random } = ground;
  const names = random.shuffle(tableNames);
  const relations: Relation[] = [];
  const foreignKeys: ForeignKey[] = [];
  for (let count = random.int(3, 5); count > 0; count--) {
    const made = generateTable(ground, names.pop() as string, relations);
    relations.push(made.table);
    foreignKeys.push(...made.keys.map((key) => ({ ...key, from: made.table, to: key.to ?? made.table })));
  }
  for (let count = random.int(0, 2); count > 0; count--) {
    const source = random.pick(relations.filter(({ kind }) => kind === 'table'));
    const view = generateView(ground, `${names.pop()}_view`, source);
    relations.push(view);
    foreignKeys.push(...viewKeys(random, view, source, foreignKeys));
  }
  return { relations, foreignKeys };
}

type DraftKey = Omit<ForeignKey, 'from' | 'to'> & { readonly to: Relation | null };

function generateTable(
  ground: Ground,
  name: string,
  earlier: readonly Relation[],
): { table: Relation; keys: DraftKey[] } {
  const { random } = ground;
  const free = random.shuffle(columnNames);
  const keyColumns = generateKey(ground, free);
  const references = generateReferences(ground, { name, earlier, keyColumns });
  const plain = Array.from({ length: random.int(2, 6) }, () =>
    plainColumn(random, free.pop() as string, random.pick(ground.types)),
  );
  const summed = keyColumns.filter(({ type }) => type.sql === 'integer' || type.sql === 'bigint').slice(0, 1);
  const generated = summed.filter(() => random.chance(0.3)).map((column) => generatedColumn(column));
  const columns = random.shuffle([...keyColumns, ...references.columns, ...plain, ...generated]);
  const key = columns
    .map((column) => column.name)
    .filter((column) => keyColumns.some((other) => other.name === column));
  const uniqueCandidates = plain.filter(({ type }) => type.canBeKey);
  const table: Relation = {
    schema: random.pick(ground.schemas),
    name,
    kind: 'table',
    columns,
    key,
    uniques: [...references.uniques, ...random.some(uniqueCandidates, 0.15).map((column) => [column.name])],
    ...generateOptions(random),
    grants: generateGrants(random, columns, key),
    policies: null,
    definition: null,
    invoker: false,
    // A table that has other than two foreign keys links nothing.
    links: random.chance(0.2) ? generateLinkNames(random, name) : null,
  };
  return { table: { ...table, policies: generatePolicies(random, table) }, keys: references.keys };
}

/** Names of the fields that the links of a table make. */
export function generateLinkNames(random: Random, name: string): NonNullable<Relation['links']> {
  const word = name.replace(/\W/g, '');
  const of = (side: string) => (random.chance(0.5) ? `${side}${word}` : null);
  return { from: of('linked'), to: of('linking') };
}

function generateKey({ random, types }: Ground, free: string[]): Column[] {
  if (random.chance(0.6)) {
    const kind = random.pick(['free', 'free', 'identity', 'serial'] as const);
    const sql = random.pick(kind === 'free' ? ['integer', 'bigint', 'integer', 'text', 'uuid'] : ['integer', 'bigint']);
    const type = types.find((candidate) => candidate.sql === sql) as Type;
    return [{ ...bareColumn(random.pick(['id', 'Id', 'ID_no']), type), notNull: true, kind }];
  }
  const keyTypes = types.filter((type) => type.canBeKey);
  return Array.from({ length: random.int(1, 3) }, () => ({
    ...bareColumn(free.pop() as string, random.pick(keyTypes)),
    notNull: true,
  })).filter((column, index) => index === 0 || /^\w+$/.test(column.name));
}

function generateReferences(
  { random }: Ground,
  { name, earlier, keyColumns }: { name: string; earlier: readonly Relation[]; keyColumns: readonly Column[] },
): { columns: Column[]; keys: DraftKey[]; uniques: string[][] } {
  const columns: Column[] = [];
  const keys: DraftKey[] = [];
  const uniques: string[][] = [];
  const own = keyColumns.length === 1 && random.chance(0.4) ? [null] : [];
  for (const [index, to] of [...random.some(earlier, 0.6), ...own].entries()) {
    const target = to === null ? keyColumns : to.key.map((column) => columnOf(to, column));
    const suffix = random.pick(['_id', 'Id', '_ref']);
    const notNull = to !== null && random.chance(0.4);
    const made = target.map((column, position) => ({
      ...bareColumn(`${random.pick(['owner', 'parent', 'main', 'of'])}${index}${position || ''}${suffix}`, column.type),
      notNull,
    }));
    columns.push(...made);
    if (random.chance(0.25)) uniques.push(made.map((column) => column.name));
    const named = random.chance(0.3);
    keys.push({
      kind: 'constraint',
      name: `${name}_fk${index}`,
      columns: made.map((column) => column.name),
      to,
      toColumns: target.map((column) => column.name),
      foreignName: named ? `towards${index}` : null,
      localName: named || to === null ? `back_${name.replace(/\W/g, '')}${index}` : null,
      onDelete: random.pick(notNull ? ['no action', 'cascade'] : ['no action', 'cascade', 'set null']),
      deferred: random.chance(0.2),
    });
  }
  return { columns, keys, uniques };
}

function generateView(ground: Ground, name: string, source: Relation): Relation {
  const { random } = ground;
  const kept = source.columns.filter(({ name: column }) => source.key.includes(column) || random.chance(0.8));
  const columns = kept.map((column) => ({
    ...column,
    notNull: false,
    default: null,
    kind: 'free' as const,
    expression: null,
  }));
  const kind = random.chance(0.25) ? 'materialized view' : 'view';
  const nullable = kept.filter((column) => !column.notNull && column.type.canBeKey && column.kind === 'free');
  const key = nullable.length > 0 && random.chance(0.3) ? [random.pick(nullable).name, ...source.key] : [...source.key];
  const grants = generateGrants(random, columns, key);
  return {
    schema: random.pick(ground.schemas),
    name,
    kind,
    columns,
    key,
    uniques: [],
    ...generateOptions(random),
    grants,
    policies: null,
    definition: `select ${kept.map((column) => `s.${quote(column.name)}`).join(', ')} from ${qualified(source)} as s`,
    links: random.chance(0.3) ? generateLinkNames(random, name) : null,
    invoker: kind === 'view' && random.chance(0.4) && roles.every((role) => source.grants[role]?.select === 'all'),
  };
}

/** Directive keys that say of a view what the catalog says of its table. */
function viewKeys(random: Random, view: Relation, source: Relation, keys: readonly ForeignKey[]): ForeignKey[] {
  const has = (relation: Relation, columns: readonly string[]) =>
    columns.every((name) => relation.columns.some((column) => column.name === name));
  const names = (index: number, side: string) => (random.chance(0.5) ? `${side}${view.name.length}${index}` : null);
  const outbound = keys
    .filter((key) => key.from === source && has(view, key.columns))
    .map((key, index) => ({ ...key, from: view, foreignName: names(index, 'viaView'), localName: `fromView${index}` }));
  const back: ForeignKey = {
    kind: 'directive',
    name: `${view.name}_back`,
    from: view,
    columns: source.key,
    to: source,
    toColumns: source.key,
    foreignName: 'underlying',
    localName: 'seenBy',
    onDelete: 'no action',
    deferred: false,
  };
  return [...outbound.map((key) => ({ ...key, kind: 'directive' as const })), back].filter(() => random.chance(0.6));
}

/** A column that may be null. */
export function bareColumn(name: string, type: Type): Column {
  return { name, type, notNull: false, default: null, kind: 'free', expression: null, directiveName: null };
}

/** A column that is part of no key. */
export function plainColumn(random: Random, name: string, type: Type): Column {
  const value = random.pick(type.values);
  const text = type.isList ? `{${/[{},"\\\s]/.test(value) || value === '' ? JSON.stringify(value) : value}}` : value;
  const notNull = random.chance(0.25);
  return {
    ...bareColumn(name, type),
    notNull,
    default: random.chance(notNull ? 0.5 : 0.2) ? text : null,
    directiveName: random.chance(0.1) ? `named${name.replace(/\W/g, '')}` : null,
  };
}

function generatedColumn(column: Column): Column {
  const name = `gen_${column.name}`;
  return { ...bareColumn(name, column.type), kind: 'generated', expression: `(${quote(column.name)} % 10)` };
}

/** What the comment of a relation says of it. */
export function generateOptions(
  random: Random,
): Pick<Relation, 'directiveName' | 'totalCount' | 'aggregate' | 'maxRows'> {
  return {
    directiveName: random.chance(0.15) ? `Own${random.int(1, 9_999)}` : null,
    totalCount: random.chance(0.7),
    aggregate: random.chance(0.7),
    maxRows: random.chance(0.25) ? random.int(1, 40) : null,
  };
}

/** What each role may do with a relation. */
export function generateGrants(random: Random, columns: readonly Column[], key: readonly string[]): Relation['grants'] {
  const everything: Grant = { select: 'all', insert: 'all', update: 'all', delete: true };
  const names = columns.map((column) => column.name);
  const limited = (): Grant => ({
    select: [...new Set([...key, ...random.some(names, 0.7)])],
    insert: random.chance(0.3) ? 'all' : random.some(names, 0.7),
    update: random.chance(0.3) ? 'all' : random.some(names, 0.5),
    delete: random.chance(0.5),
  });
  const readOnly: Grant = { select: 'all', insert: [], update: [], delete: false };
  const choose = () =>
    random.chance(0.5) ? everything : random.chance(0.5) ? limited() : random.chance(0.7) ? readOnly : null;
  return { anon: choose(), authenticated: random.chance(0.7) ? everything : choose(), service_role: everything };
}

/** Policies of a table; null: row security is off. */
export function generatePolicies(random: Random, table: Relation): string[] | null {
  if (!random.chance(0.3)) return null;
  const number = table.columns.find(({ type }) => type.sql === 'integer' || type.sql === 'bigint');
  const text = table.columns.find(({ type }) => type.sql === 'text');
  const any = random.pick(table.columns);
  const conditions = [
    number ? `${quote(number.name)} % 3 <> 0` : 'true',
    text ? `${quote(text.name)} is distinct from current_setting('request.jwt.claims', true)::json ->> 'sub'` : 'true',
    `${quote(any.name)} is not null`,
    `current_user = 'authenticated'`,
  ];
  const policy = (name: string, command: string) => {
    const using = command === 'insert' ? '' : ` using (${random.pick(conditions)})`;
    const check =
      command === 'insert' || (command === 'update' && random.chance(0.5))
        ? ` with check (${random.pick(conditions)})`
        : '';
    return `create policy ${quote(name)} on ${qualified(table)} for ${command}${using}${check}`;
  };
  if (random.chance(0.3)) return [policy('everything', 'all')];
  return ['select', 'insert', 'update', 'delete']
    .filter((command) => command === 'select' || random.chance(0.8))
    .map((command) => policy(command, command));
}
