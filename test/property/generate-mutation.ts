/**
 * Invents mutations: one to three insertions, updates and deletions in one document, most of which can succeed.
 */

import type { Entity } from './expected-model.ts';
import { type Operation, writeObjectSelection } from './generate-query.ts';
import { argumentsText, columnText, type Material, scalarOf, writeFilter } from './generate-values.ts';
import type { Random } from './random.ts';
import type { Column, ForeignKey, World } from './world.ts';
import { createWriter, nullValue, type Writer, type Written, writeList, writeObject } from './writer.ts';

/** Invents a mutation; null where the role may write nothing. */
export function generateMutation(random: Random, world: World, material: Material): Operation | null {
  const entities = [...material.model.entities.values()];
  const choices = entities.flatMap((entity) => [
    ...(entity.canInsert
      ? [
          { entity, write: writeInsert },
          { entity, write: writeInsert },
        ]
      : []),
    ...(entity.canUpdate
      ? [
          { entity, write: writeUpdate },
          { entity, write: writeUpdate },
        ]
      : []),
    ...(entity.canDelete ? [{ entity, write: writeDelete }] : []),
  ]);
  if (choices.length === 0) return null;
  const writer = createWriter(random);
  const roots = Array.from({ length: random.pick([1, 1, 1, 2, 3]) }, (_, index) => {
    const { entity, write } = random.pick(choices);
    return `r${index}: ${write(writer, { material, world, entity })}`;
  });
  return writer.finish('mutation', roots);
}

interface Target {
  readonly material: Material;
  readonly world: World;
  readonly entity: Entity;
}

function writeInsert(writer: Writer, target: Target): string {
  const { random } = writer;
  const { entity } = target;
  const type = `${entity.base}InsertInput`;
  const count = random.chance(0.02) ? 0 : random.pick([1, 1, 1, 2, 4]);
  const object = () => writer.value({ type, isRequired: true }, () => writeRow(writer, target));
  const objects = writer.value({ type: `[${type}!]`, isRequired: true }, () =>
    count === 1 && random.chance(0.2) ? writeRow(writer, target) : writeList(Array.from({ length: count }, object)),
  );
  return `insertInto${entity.base}Collection${argumentsText([['objects', objects]])} ${writePayload(writer, target, 'Insert')}`;
}

function writeUpdate(writer: Writer, target: Target): string {
  const { random } = writer;
  const { entity } = target;
  const columns = [...entity.updatable];
  const isKey = (column: Column) => entity.relation.key.includes(column.name);
  const plain = columns.filter(([, column]) => !isKey(column) || random.chance(0.1));
  const chosen = new Map([...(plain.length > 0 ? [random.pick(plain)] : []), ...random.some(plain, 0.2)]);
  const set = writer.value({ type: `${entity.base}UpdateInput`, isRequired: true }, () =>
    writeObject([...chosen].map(([name, column]) => [name, writeColumnValue(writer, target, column)])),
  );
  const entries: [string, Written][] = [['set', set], ...writeChoice(writer, target)];
  return `update${entity.base}Collection${argumentsText(random.shuffle(entries))} ${writePayload(writer, target, 'Update')}`;
}

function writeDelete(writer: Writer, target: Target): string {
  return `deleteFrom${target.entity.base}Collection${argumentsText(writeChoice(writer, target))} ${writePayload(writer, target, 'Delete')}`;
}

/** `filter` and `atMost`: usually one row, found by its node id. */
function writeChoice(writer: Writer, { material, entity }: Target): [string, Written][] {
  const { random } = writer;
  const ids = material.nodeIds(entity.relation);
  const id = ids.length > 0 && random.chance(0.55) ? random.pick(ids) : null;
  const byId = () => writeObject([['nodeId', writeObject([['eq', { text: JSON.stringify(id), json: id }]])]]);
  const filter = writer.value({ type: `${entity.base}Filter` }, () =>
    id === null ? writeFilter(writer, material, entity) : byId(),
  );
  const limit = random.pick([0, 1, 2, 3, 40, 40]);
  const isGiven = random.chance(id === null ? 0.8 : 0.3);
  const atMost = writer.value({ type: 'Int', isRequired: true }, () => ({ text: String(limit), json: limit }));
  return [['filter', filter], ...(isGiven ? [['atMost', atMost] as [string, Written]] : [])];
}

function writePayload(writer: Writer, { material, entity }: Target, kind: string): string {
  const { random } = writer;
  // Functions that return rows are left out right below a written row: what they see is tried on rows that are only read.
  const isPlain = (name: string) => {
    const field = entity.fields.get(name);
    return field?.kind !== 'computed' || field.routine.result.kind === 'value';
  };
  const fields = new Map([...entity.fields].filter(([name]) => isPlain(name)));
  const records = `records ${writeObjectSelection(writer, material, { entity: { ...entity, fields }, depth: random.int(0, 2) })}`;
  const parts = [...random.some(['affectedCount', '__typename'], 0.6), ...(random.chance(0.85) ? [records] : [])];
  return writer.selections(`${entity.base}${kind}Response`, parts.length === 0 ? ['affectedCount'] : parts);
}

function writeRow(writer: Writer, target: Target): Written {
  const { random } = writer;
  const { entity } = target;
  const needed = ([, column]: [string, Column]) => {
    const isNeeded = (column.notNull || entity.relation.key.includes(column.name)) && column.default === null;
    return isNeeded ? !random.chance(0.02) : random.chance(0.5);
  };
  const columns = [...entity.insertable].filter(needed);
  return writeObject(columns.map(([name, column]) => [name, writeColumnValue(writer, target, column)]));
}

function writeColumnValue(writer: Writer, target: Target, column: Column): Written {
  const { random } = writer;
  const { type } = column;
  const mustBeSet = column.notNull || target.entity.relation.key.includes(column.name);
  if (random.chance(mustBeSet ? 0.01 : 0.12)) return nullValue;
  const place = { type: type.isList ? `[${type.graphql}]` : type.graphql, canBeNull: !mustBeSet };
  return writer.value(place, () => {
    if (!type.isList) return scalarOf(random, type, newText(random, target, column));
    const element = () => (random.chance(0.1) ? nullValue : scalarOf(random, type, random.pick(type.values)));
    return random.chance(0.1)
      ? scalarOf(random, type, random.pick(type.values))
      : writeList(Array.from({ length: random.int(0, 3) }, element));
  });
}

/** A text for a column: new where it must be unique, that of an existing row where it refers to one. */
function newText(random: Random, { material, world, entity }: Target, column: Column): string {
  const reference = referenceOf(world, entity, column);
  const known =
    reference && material.model.entities.has(reference.to)
      ? material.texts(reference.to, reference.toColumn).filter((text) => text !== null)
      : [];
  if (known.length > 0 && random.chance(0.95)) return random.pick(known);
  const isUnique = [entity.relation.key, ...entity.relation.uniques].some((columns) => columns.includes(column.name));
  const fresh = isUnique && random.chance(0.9) ? freshText(random, column) : null;
  return fresh ?? columnText(random, material, entity.relation, column);
}

function referenceOf(
  world: World,
  { relation }: Entity,
  column: Column,
): { to: ForeignKey['to']; toColumn: string } | null {
  for (const key of world.foreignKeys) {
    const position = key.from === relation ? key.columns.indexOf(column.name) : -1;
    if (position >= 0) return { to: key.to, toColumn: key.toColumns[position] as string };
  }
  return null;
}

function freshText(random: Random, { type }: Column): string | null {
  const number = String(random.int(2_000, 30_000));
  if (['int', 'bigint'].includes(type.input)) return number;
  if (type.sql === 'text' || type.sql === 'character varying') return `é${number}`;
  if (type.sql === 'character varying(5)') return number;
  if (type.sql === 'uuid') return `00000000-0000-4000-8000-${number.padStart(12, '0')}`;
  return null;
}
