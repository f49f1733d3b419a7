/**
 * Invents queries: every kind of root field, connections with all their arguments, relationships to a depth of four.
 */

import { argumentName, columnName, type Entity, type Field, lowerFirst } from './expected-model.ts';
import { writeGroups } from './generate-groups.ts';
import { writeKeys } from './generate-json.ts';
import { writeQuestion } from './generate-related.ts';
import { writeRankEntries, writeUnknownConfig } from './generate-search.ts';
import {
  argumentsText,
  keyTexts,
  type Material,
  scalarOf,
  writeConnectionArguments,
  writeGiven,
} from './generate-values.ts';
import type { Random } from './random.ts';
import { entityOf } from './reader.ts';
import { resultsOf } from './types.ts';
import { columnOf, type Routine } from './world.ts';
import { createWriter, nullValue, type Writer, type Written, writeList, writeObject, writeToken } from './writer.ts';

/** A document with its variables. */
export interface Operation {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Invents a query. */
export function generateQuery(random: Random, material: Material): Operation {
  const writer = createWriter(random);
  const refused = random.chance(0.02) ? writeRefused(writer, material) : null;
  // Alone, because the database refuses the whole statement.
  if (refused !== null) return writer.finish('query', [refused]);
  const count = random.pick([1, 1, 1, 2, 3]);
  const roots = Array.from({ length: count }, (_, index) => writeRoot(writer, material, `r${index}`));
  return writer.finish('query', random.chance(0.05) ? [...roots, '__typename'] : roots);
}

/** A search with a configuration that the database does not have; null: there is nothing to search. */
function writeRefused(writer: Writer, { model }: Material): string | null {
  const all = [...model.entities.values()].flatMap(({ base, searches }) =>
    [...searches.keys()].map((name) => ({ base, name })),
  );
  if (all.length === 0) return null;
  const { base, name } = writer.random.pick(all);
  const filter = writeObject([[name, writeUnknownConfig(writer)]]);
  return `r0: ${lowerFirst(base)}Collection${argumentsText([['filter', filter]])} { edges { node { nodeId } } }`;
}

function writeRoot(writer: Writer, material: Material, key: string): string {
  const { random } = writer;
  const entities = [...material.model.entities.values()];
  const routines = [...material.model.routines];
  if (entities.length === 0) return '__typename';
  const entity = random.pick(entities);
  const choice = random.int(0, 13);
  if (choice === 0) return writeNode(writer, material, key);
  if (choice <= 2 && entity.hasByPk) return writeByPk(writer, material, key, entity);
  if (choice <= 4 && routines.length > 0) return writeCall(writer, material, key, random.pick(routines));
  const name = `${lowerFirst(entity.base)}Collection`;
  // A filter beside them would often leave no rows.
  const groups = choice <= 6 ? writeAllGroups(writer, material, entity) : [];
  if (groups.length > 0) return `${key}: ${name} ${writer.selections(`${entity.base}Connection`, groups)}`;
  const question = choice >= 12 && writer.mayRelate() ? writeQuestion(writer, material, entity) : null;
  if (question !== null) {
    const parts = ['edges { node { nodeId } }', ...(entity.relation.totalCount ? ['totalCount'] : [])];
    return `${key}: ${name}${argumentsText([['filter', question]])} { ${parts.join(' ')} }`;
  }
  return `${key}: ${writeConnection(writer, material, name, { entity, depth: random.int(1, 4) })}`;
}

function writeNode(writer: Writer, material: Material, key: string): string {
  const { random } = writer;
  const entities = [...material.model.entities.values()];
  const ids = entities.flatMap((entity) => material.nodeIds(entity.relation));
  const id = ids.length === 0 || random.chance(0.05) ? 'WyJhIiwgImIiLCAxXQ==' : random.pick(ids);
  const argument = writer.value({ type: 'ID', isRequired: true }, () => ({ text: JSON.stringify(id), json: id }));
  const likely = entities.filter((entity) => material.nodeIds(entity.relation).includes(id));
  const shown = [...new Set([...likely, random.pick(entities)])];
  const parts = shown.map(
    (entity, index) =>
      `... on ${entity.base} ${writeObjectSelection(writer, material, { entity, depth: 2 }, `n${index}_`)}`,
  );
  return `${key}: node(nodeId: ${argument.text}) { __typename nodeId ${parts.join(' ')} }`;
}

function writeByPk(writer: Writer, material: Material, key: string, entity: Entity): string {
  const { random } = writer;
  const texts = keyTexts(random, material, entity);
  const entries = entity.relation.key.map((name, index): [string, Written] => {
    const column = columnOf(entity.relation, name);
    const write = () => scalarOf(random, column.type, texts[index] as string);
    return [
      columnName(entity.relation, column) ?? name,
      writer.value({ type: column.type.graphql, isRequired: true }, write),
    ];
  });
  if (entries.some(([name]) => !/^\w+$/.test(name))) return `${key}: __typename`;
  const name = `${lowerFirst(entity.base)}ByPk${argumentsText(random.shuffle(entries))}`;
  return `${key}: ${name} ${writeObjectSelection(writer, material, { entity, depth: random.int(1, 3) })}`;
}

function writeCall(
  writer: Writer,
  material: Material,
  key: string,
  [name, routine]: readonly [string, Routine],
): string {
  const { random } = writer;
  const entries = routine.arguments.flatMap((argument): [string, Written][] => {
    if (argument.default !== null && random.chance(0.3)) return [];
    const { type } = argument;
    const one = () => scalarOf(random, type, random.pick(type.values));
    const write = () => (type.isList ? writeList([one(), ...(random.chance(0.5) ? [one()] : [])]) : one());
    if (argument.default !== null && random.chance(0.1)) return [[argumentName(routine, argument.name), nullValue]];
    const place = { type: type.isList ? `[${type.graphql}]` : type.graphql, isRequired: argument.default === null };
    return [[argumentName(routine, argument.name), writer.value(place, write)]];
  });
  if (routine.result.kind === 'value') return `${key}: ${name}${argumentsText(entries)}`;
  const entity = entityOf(material.model, routine.result.relation);
  if (routine.result.kind === 'row')
    return `${key}: ${name}${argumentsText(entries)} ${writeObjectSelection(writer, material, { entity, depth: 2 })}`;
  const written = writeConnection(writer, material, name, { entity, depth: 2 });
  const own = argumentsText(entries).slice(1, -1);
  if (own === '') return `${key}: ${written}`;
  const rest = written.slice(name.length);
  return `${key}: ${name}(${own}${rest.startsWith('(') ? `, ${rest.slice(1)}` : `)${rest}`}`;
}

/** Where a selection stands: what it is of, and how many relationships may still be followed. */
export interface Spot {
  readonly entity: Entity;
  readonly depth: number;
}

/** A connection field with arguments and selection. */
function writeConnection(writer: Writer, material: Material, name: string, { entity, depth }: Spot): string {
  const { random } = writer;
  const { base, relation } = entity;
  const edge = () => {
    const object = writeObjectSelection(writer, material, { entity, depth: depth - 1 });
    if (entity.isCapped && random.chance(0.3)) return `nodes ${object}`;
    const node = `node ${object}`;
    return `edges ${writer.selections(`${base}Edge`, [...random.some(['cursor', '__typename'], 0.4), node])}`;
  };
  const parts = [
    ...(random.chance(0.9) ? [edge()] : []),
    ...(random.chance(0.06) ? [`more: edges ${writer.selections(`${base}Edge`, ['cursor'])}`] : []),
    ...(random.chance(0.45)
      ? [
          `pageInfo ${writer.selections('PageInfo', ['hasNextPage', 'hasPreviousPage', 'startCursor', 'endCursor', '__typename'])}`,
        ]
      : []),
    ...(relation.totalCount && random.chance(0.3) ? [writeTotal(writer, entity)] : []),
    ...(relation.aggregate && random.chance(0.35) ? [writeAggregate(writer, entity)] : []),
    ...(random.chance(0.4) ? writeAllGroups(writer, material, entity) : []),
  ];
  const selection = writer.selections(`${base}Connection`, parts.length === 0 ? ['__typename'] : parts);
  return `${name}${writeConnectionArguments(writer, material, entity)} ${selection}`;
}

function writeTotal(writer: Writer, { isCapped }: Entity): string {
  const { random } = writer;
  const name = random.pick(['totalCount', 'n: totalCount']);
  if (!isCapped || random.chance(0.5)) return name;
  const most = random.chance(0.02) ? -1 : random.pick([0, 1, 2, 3, 5, 8, 40]);
  const write = () => ({ text: String(most), json: most });
  return `${name}${argumentsText([['atMost', random.chance(0.04) ? nullValue : writer.value({ type: 'Int' }, write)]])}`;
}

function writeAllGroups(writer: Writer, material: Material, entity: Entity): readonly string[] {
  const { groups } = entity;
  if (groups === null) return [];
  return [writeGroups(writer, material, entity, { groups, computed: writeFunctions(writer, entity) })];
}

function writeAggregate(writer: Writer, entity: Entity): string {
  return `aggregate ${writer.selections(`${entity.base}Aggregate`, ['count', ...writeFunctions(writer, entity)])}`;
}

/** The number of values of a column, in place of that of the rows. */
function writeCounts(writer: Writer, { base, counted }: Entity): readonly string[] {
  const { random } = writer;
  if (counted.length === 0 || random.chance(0.7)) return [];
  const write = () => writeToken(random, random.pick(counted));
  const column = random.chance(0.05) ? nullValue : writer.value({ type: `${base}Column` }, write);
  return [`values: count${argumentsText([['column', column]])}`];
}

function writeFunctions(writer: Writer, entity: Entity): readonly string[] {
  const { random } = writer;
  const distinct = [...entity.distinctCounts.keys()];
  const counts = new Set(distinct.length > 0 && random.chance(0.3) ? [random.pick(distinct), '__typename'] : []);
  const functions = random.some([...entity.functions], 0.25).map(([name, taken]) => {
    const eligible = [...taken.keys()];
    const type = `${entity.base}${resultsOf(name)}AggregateResult`;
    const columns = new Set([random.pick(eligible), ...random.some(eligible, 0.5)]);
    return `${random.chance(0.1) ? `x_${name}: ` : ''}${name} ${writer.selections(type, [...columns, ...random.some(['__typename'], 0.1)])}`;
  });
  const parts = [...functions, ...writeCounts(writer, entity)];
  if (counts.size === 0) return parts;
  return [...parts, `distinctCount ${writer.selections(`${entity.base}DistinctCount`, [...counts])}`];
}

/** The selection of an object; keys get the prefix, so that selections of several types can stand side by side. */
export function writeObjectSelection(writer: Writer, material: Material, { entity, depth }: Spot, prefix = ''): string {
  const { random } = writer;
  const fields = [...entity.fields].flatMap(([name, field]) => {
    const isWanted = random.chance(isLeaf(field) ? 0.45 : depth > 0 ? 0.35 : 0);
    return isWanted ? [writeField(writer, material, { of: entity, name, field, depth, prefix })] : [];
  });
  const all = fields.length === 0 || random.chance(0.1) ? [...fields, '__typename'] : fields;
  return writer.selections(entity.base, all);
}

function writeField(
  writer: Writer,
  material: Material,
  { of, name, field, depth, prefix }: { of: Entity; name: string; field: Field; depth: number; prefix: string },
): string {
  const { random } = writer;
  const alias = prefix !== '' || random.chance(0.1) ? `${prefix}${random.pick(['a', 'b'])}_${name}: ` : '';
  const content = field.kind === 'column' ? field.column : field.kind === 'computed' ? field.routine.entry : null;
  if (content !== null && of.parted.has(content) && random.chance(field.kind === 'computed' ? 0.8 : 0.5))
    return `${alias}${name}${argumentsText([['at', random.chance(0.04) ? nullValue : writeKeys(writer, { type: '[String!]' })]])}`;
  if (field.kind === 'computed' && field.routine.takes !== null)
    return `${alias}${name}${argumentsText(writeGiven(writer, material, field.routine))}`;
  if (field.kind === 'rank') return `${alias}${name}${argumentsText(writeRankEntries(writer))}`;
  if (isLeaf(field)) return `${alias}${name}`;
  const target =
    field.kind === 'computed'
      ? (field.routine.result as { relation: Entity['relation'] }).relation
      : (field as { target: Entity['relation'] }).target;
  const entity = entityOf(material.model, target);
  const isSet = field.kind === 'to-many' || (field.kind === 'computed' && field.routine.result.kind === 'set');
  if (isSet) return `${alias}${writeConnection(writer, material, name, { entity, depth: depth - 1 })}`;
  return `${alias}${name} ${writeObjectSelection(writer, material, { entity, depth: depth - 1 })}`;
}

function isLeaf(field: Field): boolean {
  return (
    field.kind === 'nodeId' ||
    field.kind === 'column' ||
    field.kind === 'rank' ||
    (field.kind === 'computed' && field.routine.result.kind === 'value')
  );
}
