/** Runs random writes through the gateway and in plain SQL, on the same rows, and reports the first that differ. */
import type { GraphQLObjectType, GraphQLSchema } from 'graphql';
import pg from 'pg';
import { createRandom, type Random } from '../property/random.ts';
import type { TestExecution } from '../support/execution.ts';
import type { TestDatabase } from '../support/postgres.ts';
import type { Payload } from './change-rows.ts';
import { type Below, type Document, documentOf } from './document.ts';
import { columnsOf, generateWrite } from './generate-write.ts';
import { nameNoRows } from './hidden-keys.ts';
import { forwardReference, sharedByAnotherKey } from './insert-rows.ts';
import { writeInSql } from './reference.ts';
import { isForged, isTree } from './refused.ts';
import { type Row, telling } from './statements.ts';
import type { Value } from './values.ts';
import { type Role, roles, type Table, type World } from './world.ts';
import type { Change, Children, Conflict, Key, Tree, Write } from './write.ts';

/** What is run. */
export interface WriteRun {
  readonly random: Random;
  readonly worlds: readonly World[];
  readonly execution: TestExecution;
  readonly writes: number;
}

/** How it went. */
export interface WriteResult {
  readonly failure: string | null;
  readonly done: number;
  /** How often each construct occurred. */
  readonly counts: ReadonlyMap<string, number>;
}

/** Runs this many writes, or until one differs. */
export async function runWrites(
  database: TestDatabase,
  { random, worlds, execution, writes }: WriteRun,
): Promise<WriteResult> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const counts = new Map<string, number>();
  const schemas = new Map<Role, GraphQLSchema>();
  for (const role of roles) schemas.set(role, (await execution.role(role)).shared.schema);
  let [done, tries] = [0, 0];
  let failure: string | null = null;
  while (done < writes && failure === null) {
    const world = random.pick(worlds);
    const role = random.pick(roles);
    const schema = schemas.get(role) as GraphQLSchema;
    const rows = await readRows(client, world);
    // One in three may be refused for any reason.
    const isCareful = random.chance(0.7);
    const isForging = isCareful && random.chance(0.15);
    const keys: Key[] = [];
    const generated = Array.from({ length: random.chance(0.1) ? 2 : 1 }, () => {
      const common = { random: random.fork(), world, schema, rows };
      return generateWrite({ ...common, isCareful, isForging, conflicts: new Map(), keys });
    });
    const list = generated.filter((write) => write !== null);
    if (list.length === 0) continue;
    const below = list.map((write) => (isTree(write) && write.columns !== null ? belowOf(schema, world, write) : null));
    const documentSeed = random.int(0, 0x7fff_ffff);
    const print = () => documentOf(list, schema, below, createRandom(documentSeed));
    const document = print();
    // The same with other values.
    const again = (hidden: readonly Key[]) => (nameNoRows(keys, hidden) ? print() : null);
    const given = { client, world, role, schema, writes: list, document, again, below, execution };
    const checked = await compare(given, isCareful && !isForging && tries < 5);
    tries = checked === null ? tries + 1 : 0;
    if (checked === null) continue;
    done++;
    const constructs = [
      ...list.flatMap(constructsOf),
      ...[...document.query.matchAll(/it\d+: (insert|update|delete)(?!Into|From|Many)\w+?(ByPk)?\(/g)].flatMap(
        ([field, kind]) => (field.includes('Collection(') ? [] : [`${kind} of one row`]),
      ),
      ...(list.length > 1 ? ['several fields'] : []),
      ...(list.some(({ table }) => schema.getType(table.name) === undefined) ? ['insert by INSERT alone'] : []),
      ...(list.some(isForged) ? ['columns of a relationship'] : []),
    ];
    const written = checked.name === 'written' ? constructs.map((name) => `written: ${name}`) : [];
    for (const name of new Set([...constructs, ...written, ...checked.outcome.events, checked.name]))
      counts.set(name, (counts.get(name) ?? 0) + 1);
    if (checked.mismatch !== null)
      failure = [
        `${world.script};`,
        `-- as ${role}: ${checked.mismatch}`,
        document.query,
        JSON.stringify(document.variables),
      ].join('\n');
  }
  await client.end();
  return { failure, done, counts };
}

interface Case {
  readonly client: pg.ClientBase;
  readonly world: World;
  readonly role: Role;
  readonly schema: GraphQLSchema;
  readonly writes: readonly Write[];
  readonly document: Document;
  /** The document that names no rows instead of these; null: there is none. */
  readonly again: (hidden: readonly Key[]) => Document | null;
  readonly below: readonly (Below | null)[];
  readonly execution: TestExecution;
}

/** @param isToSucceed Null is answered for what plain SQL refuses. */
async function compare({ client, world, execution, document, again, ...written }: Case, isToSucceed: boolean) {
  const { role, writes } = written;
  const numbers = await readNumbers(client, world);
  const before = await readState(client, world);
  await client.query('begin');
  const outcome = await writeInSql(client, written);
  if (outcome.refused.size === 0) await client.query('reset role');
  const wanted =
    outcome.refused.size === 0
      ? { rows: await readState(client, world), numbers: await readNumbers(client, world) }
      : null;
  await client.query('rollback');
  const setNumbers = numbers.map(({ name, last, called }) => `setval('${name}', ${last}, ${called})`).join(', ');
  await client.query(`select ${setNumbers}`);
  const isTelling = Object.values(telling).some((event) => outcome.events.has(event));
  if (isToSucceed && outcome.refused.size > 0 && !isTelling) return null;
  const answer = await execution.run(role, document.query, { variables: document.variables });
  const rows = await readState(client, world);
  const after = await readNumbers(client, world);
  const result = (name: string, mismatch: string | null) => ({ name, mismatch, outcome });
  if (answer.errors) {
    const { code, limit } = answer.errors[0].extensions;
    const name = `refused: ${code}`;
    const said = JSON.stringify(answer.errors);
    const sent = JSON.stringify(document);
    const told = [...said.matchAll(/hidden \d/g)].find(([value]) => !sent.includes(value));
    if (told !== undefined) return result(name, `the refusal tells ${told}, which was not sent: ${said}`);
    const isExpected = [...outcome.refused, ...outcome.allowed].some(
      (each) => each === code || (each === 'suppressed' && isSuppressed(answer.errors[0])),
    );
    // Each group of objects has a copy of its filters through relationships.
    if (!isExpected && limit !== 'relationFilters' && !outcome.events.has(sharedByAnotherKey))
      return result(name, `refused with ${said}, in SQL ${[...outcome.refused].join(' or ') || 'written'}`);
    const changed = difference('rows after a refusal', before, rows);
    const other = changed === null && outcome.hiddenKeys.length > 0 ? again(outcome.hiddenKeys) : null;
    if (other === null) return result(name, changed);
    outcome.events.add('hidden row named as one that is not there');
    await client.query(`select ${setNumbers}`);
    const { data, errors } = await execution.run(role, other.query, { variables: other.variables });
    // Keys of another length move what follows.
    const shown = (each: object) => JSON.stringify(each, (name, value) => (name === 'locations' ? null : value));
    return result(name, difference('answer without the row', shown({ data, errors }), shown({ ...answer })));
  }
  if (outcome.events.has(sharedByAnotherKey) || (wanted === null && outcome.events.has(forwardReference)))
    return result('written: not compared', null);
  if (wanted === null)
    return result(
      'written',
      `written, in SQL refused with ${[...outcome.refused].join(' or ')}\n${JSON.stringify(answer.data)}`,
    );
  const shown = (numbered: typeof numbers) =>
    numbered.map(({ name, last, called }) => `${name} ${last} ${called}`).join('\n');
  const shownBy = (payloadsOf: (index: number) => readonly Payload[]) =>
    writes.map((write, index) => showPayloads(write, payloadsOf(index))).join('\n===\n');
  const answered = (index: number): readonly Payload[] => [answer.data[`it${index}`]].flat().map(payloadOf);
  const mismatch =
    difference(
      'answer',
      shownBy((index) => outcome.payloads[index] ?? []),
      shownBy(answered),
    ) ??
    difference('rows', wanted.rows, rows) ??
    difference('sequences', shown(wanted.numbers), shown(after));
  return result(
    outcome.payloads.flat().some(({ affectedCount }) => affectedCount > 0) ? 'written' : 'written: no rows',
    mismatch,
  );
}

/** Fields of one row answer the row, or null. */
function payloadOf(answer: Payload | Row | null): Payload {
  if (answer === null) return { affectedCount: 0, records: [] };
  if (!('affectedCount' in answer)) return { affectedCount: 1, records: [answer] };
  return { records: [], ...(answer as Pick<Payload, 'affectedCount'>) };
}

/** A row is missing that others are made with. */
function isSuppressed({ extensions: { code } }: { readonly extensions: { readonly code: string } }): boolean {
  return code === 'BAD_USER_INPUT' || code === 'CONSTRAINT_VIOLATION';
}

function difference(what: string, wanted: string, actual: string): string | null {
  const [one, other] = [wanted, actual].map((text) => text.split('\n')) as [string[], string[]];
  if (one.join() === other.join()) return null;
  const only = (lines: string[], others: string[]) =>
    what === 'answer' ? lines : lines.filter((line) => !others.includes(line));
  return `${what}\nin SQL  ${only(one, other).join('\n')}\ngateway ${only(other, one).join('\n')}`;
}

/** Records of an insert are in the order of the objects; others, and related rows, in any. */
function showPayloads({ kind, table, columns }: Write, payloads: readonly Payload[]): string {
  const types = new Map(table.columns.map(({ name, type }) => [name, type]));
  const shown = (row: Row): string =>
    JSON.stringify(
      Object.entries(row)
        .filter(([name]) => name !== '__typename')
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([name, value]) => [name, showValue(types.get(name), value)]),
    );
  return payloads
    .map(({ affectedCount, records }) => {
      const rows = columns === null ? [] : records.map(shown);
      return `${affectedCount}\n${(kind === 'insert' ? rows : rows.sort()).join('\n')}`;
    })
    .join('\n---\n');
}

function showValue(type: string | undefined, value: unknown): unknown {
  if (type === 'jsonb') return JSON.stringify(typeof value === 'string' ? JSON.parse(value) : value);
  if (type !== undefined || value === null || typeof value !== 'object') return value;
  const edges = 'edges' in value ? (value.edges as { node: Row }[]).map(({ node }) => node) : [value].flat();
  return edges
    .map((row) => JSON.stringify(Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1))))
    .sort();
}

/** Related rows that the role may read: of columns whose JSON is the same for both. */
function belowOf(schema: GraphQLSchema, world: World, { table }: Write): Below {
  const type = schema.getType(table.name) as GraphQLObjectType | undefined;
  const fields = type?.getFields() ?? {};
  const up = table.references.flatMap((reference) => {
    const columns = shownColumns(schema, reference.target);
    return reference.up in fields && columns.length > 0 ? [{ field: reference.up, reference, columns }] : [];
  });
  const down = world.tables.flatMap((child) =>
    child.references.flatMap((reference) => {
      if (reference.target.name !== table.name || !(reference.down in fields)) return [];
      const columns = shownColumns(schema, child);
      // Collections are in the order of the key.
      const isOrdered = child.key.every((name) => columns.includes(name));
      return !isOrdered ? [] : [{ field: reference.down, table: child, reference, columns }];
    }),
  );
  return { up, down };
}

/** Of related rows. PostgreSQL refuses a statement that reads more of a view of the invoker, also where there is no row to show. */
function shownColumns(schema: GraphQLSchema, table: Table): string[] {
  const columns = columnsOf(schema, table.name, table).filter((name) => name !== 'data');
  const { base, traits } = table;
  if (base === null || !traits.has('view of the invoker')) return columns;
  const ofBase = columnsOf(schema, base.name, base);
  // The condition of the view.
  if (!ofBase.includes('n')) return [];
  return columns.filter((name) => ofBase.includes(name));
}

async function readRows(
  client: pg.ClientBase,
  { tables }: World,
): Promise<ReadonlyMap<string, Readonly<Record<string, Value>>[]>> {
  const stored = tables.filter(({ kind }) => kind === 'table');
  // Objects with keys of a child table would be other rows with the same keys.
  const list = stored.map(
    ({ schema, name, traits }) =>
      `(select json_agg(t) from ${traits.has('inheritance') ? 'only ' : ''}${schema}.${name} t) as "${name}"`,
  );
  const { rows } = await client.query(`select ${list.join(', ')}`);
  return new Map(stored.map(({ name }) => [name, rows[0][name] ?? []]));
}

async function readState(client: pg.ClientBase, { name, tables }: World): Promise<string> {
  const stored = [...tables.filter(({ kind }) => kind === 'table').map((table) => table.name), 'log'];
  const list = stored.map((each) => `select '${each} ' || t::text as line from ${name}.${each} t`);
  const { rows } = await client.query(
    `select string_agg(line, e'\\n' order by line) as state from (${list.join(' union all ')}) as l`,
  );
  return rows[0].state ?? '';
}

async function readNumbers(client: pg.ClientBase, world: World) {
  const names = world.sequences.map(
    (name) => `select '${name}' as name, last_value as last, is_called as called from ${name}`,
  );
  const { rows } = await client.query(names.join(' union all '));
  return rows as { readonly name: string; readonly last: string; readonly called: boolean }[];
}

function constructsOf(write: Write): string[] {
  const { kind, table } = write;
  const found = [...table.traits].map((trait) => `${kind === 'updateMany' ? 'update' : kind}, ${trait}`);
  found.push(kind);
  if (write.columns === null) found.push(`unread ${kind}`);
  if (kind === 'insert') {
    if (write.trees.length > 1) found.push('several objects');
    if (write.conflict) found.push(...conflictConstructs(write.conflict));
    for (const tree of write.trees) found.push(...treeConstructs(tree, 1));
  }
  if (kind === 'update') {
    found.push(...write.change.operators.map(({ name, column }) => `${name} ${column.domain}`));
    found.push(...relatedConstructs(write.change, 1));
  }
  if (kind === 'updateMany' && write.changes.length > 1) found.push('several entries');
  return [...new Set(found)];
}

function conflictConstructs({ columns, filter, arbiter }: Conflict): string[] {
  const shape = arbiter.includes('where') ? 'partial' : arbiter.includes('lower') ? 'expression' : 'columns';
  return [
    'onConflict',
    `onConflict by ${shape}`,
    columns.length === 0 ? 'onConflict keeps' : 'onConflict updates',
    ...(filter.length > 0 ? ['onConflict filter'] : []),
    ...filter.flatMap((each) => ('related' in each ? [`onConflict filter: ${each.quantifier}`] : [])),
  ];
}

function relatedConstructs({ links, related }: Change, depth: number): string[] {
  return [
    ...links.flatMap((link) => [
      `nested ${link.way} above, ${depth} deep`,
      ...(link.way === 'insert' ? treeConstructs(link.tree, depth + 1) : []),
      ...(link.way === 'update' ? relatedConstructs(link.change, depth + 1) : []),
    ]),
    ...related.flatMap(({ deletes, updates, disconnects, replace, ...children }) => [
      ...(deletes.length > 0 ? [`nested delete, ${depth} deep`] : []),
      ...(updates.length > 0 ? [`nested update, ${depth} deep`] : []),
      ...(disconnects.length > 0 ? [`nested disconnect, ${depth} deep`] : []),
      ...(children.trees.length > 0 ? [`nested insert of an update, ${depth} deep`] : []),
      ...(children.keys.length > 0 ? [`nested connect of an update, ${depth} deep`] : []),
      ...(replace ? [`nested replace, ${depth} deep`] : []),
      ...(replace && children.conflict ? ['nested replace beside onConflict'] : []),
      ...(children.conflict ? ['nested onConflict'] : []),
      ...updates.flatMap((change) => relatedConstructs(change, depth + 1)),
      ...children.trees.flatMap((tree) => treeConstructs(tree, depth + 1)),
    ]),
  ];
}

function treeConstructs({ values, up, down }: Tree, depth: number): string[] {
  return [
    ...([...values].some(([name, value]) => name === 'id' && value === null) ? ['null for a generated key'] : []),
    ...up.flatMap(({ tree, conflict }) =>
      tree === null
        ? [`nested connect to one, ${depth} deep`]
        : [
            `nested to-one, ${depth} deep`,
            ...(conflict ? ['nested onConflict'] : []),
            ...treeConstructs(tree, depth + 1),
          ],
    ),
    ...down.flatMap((children) => childConstructs(children, depth)),
  ];
}

function childConstructs({ trees, keys, conflict }: Children, depth: number): string[] {
  return [
    ...(trees.length > 0 ? [`nested to-many, ${depth} deep`] : []),
    ...(keys.length > 0 ? [`nested connect to many, ${depth} deep`] : []),
    ...(conflict ? ['nested onConflict'] : []),
    ...trees.flatMap((tree) => treeConstructs(tree, depth + 1)),
  ];
}
