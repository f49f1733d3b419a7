/**
 * Invents filters through relationships: of one related row, of some, of every and of none, and of all of them together.
 */

import type { Computation, Entity, Relationship } from './expected-model.ts';
import { type Material, writeColumnFilter, writeFilter } from './generate-values.ts';
import { entityOf } from './reader.ts';
import { computedType } from './types.ts';
import type { Column } from './world.ts';
import { nullValue, type Writer, type Written, writeList, writeObject, writeToken } from './writer.ts';

/** The entry of a relationship. @param passed Relationships passed, this one included. */
export function writeRelated(
  writer: Writer,
  material: Material,
  { kind, target }: Relationship,
  passed: number,
): Written {
  const { random } = writer;
  const entity = entityOf(material.model, target);
  const filter = () =>
    writer.value({ type: `${entity.base}Filter` }, () =>
      random.chance(0.08) ? writeObject([]) : writeFilter(writer, material, entity, 1, passed),
    );
  if (kind === 'to-one') return filter();
  const kinds = ['some', 'every', 'none', ...(entity.computations === null ? [] : ['aggregate', 'aggregate'])];
  return writer.value({ type: `${entity.base}CollectionFilter` }, () => {
    const chosen = random.chance(0.04) ? [] : new Set([random.pick(kinds), ...random.some(kinds, 0.08)]);
    return writeObject(
      [...chosen].map((name) => {
        if (random.chance(0.04)) return [name, nullValue];
        return [
          name,
          name === 'aggregate'
            ? writeAggregate(writer, material, entity, { filter, computations: entity.computations })
            : filter(),
        ];
      }),
    );
  });
}

/** What is asked of some rows together. @param rows The rows, and a filter of them. */
export function writeAggregate(
  writer: Writer,
  material: Material,
  entity: Entity,
  { filter, computations: asked }: { readonly filter: () => Written; readonly computations: Entity['computations'] },
): Written {
  const { random } = writer;
  return writer.value({ type: `${entity.base}AggregateFilter` }, () => {
    const entries: [string, Written][] = [];
    const computations = [...(asked ?? [])];
    if (random.chance(0.4)) entries.push(['filter', random.chance(0.05) ? nullValue : filter()]);
    if (random.chance(0.6)) entries.push(['count', writeNumber(writer, 1001)]);
    for (const [name, columns] of random.some(computations, entries.length === 0 ? 0.4 : 0.2)) {
      const type = `${entity.base}${name.slice(0, 1).toUpperCase()}${name.slice(1)}Filter`;
      const write = () => writeComputation(writer, material, { entity, name, columns });
      entries.push([name, random.chance(0.04) ? nullValue : writer.value({ type }, write)]);
    }
    return writeObject(random.shuffle(entries));
  });
}

interface Computing {
  readonly entity: Entity;
  readonly name: Computation;
  readonly columns: ReadonlyMap<string, Column>;
}

function writeComputation(writer: Writer, material: Material, { entity, name, columns }: Computing): Written {
  const { random } = writer;
  const all = [...columns];
  const chosen = random.chance(0.05) ? [] : new Map([random.pick(all), ...random.some(all, 0.1)]);
  return writeObject(
    [...chosen].map(([field, column]) => {
      if (name === 'distinctCount') return [field, random.chance(0.04) ? nullValue : writeNumber(writer, 22)];
      const type = computedType(column.type, name);
      return [field, writeColumnFilter(writer, material, entity, { ...column, type })];
    }),
  );
}

/** An `IntFilter` of a number of rows. */
function writeNumber(writer: Writer, most: number): Written {
  const { random } = writer;
  if (random.chance(0.04)) return nullValue;
  const one = (): Written => {
    const number = random.chance(0.01) ? most : random.pick([-1, 0, 0, 1, 1, 1, 2, 2, 3, 4, 7]);
    return { text: String(number), json: number };
  };
  return writer.value({ type: 'IntFilter' }, () => {
    const operators = ['eq', 'neq', 'lt', 'lte', 'gt', 'gte', 'in'];
    const chosen = random.chance(0.04)
      ? []
      : new Set([random.pick([...operators, 'is']), ...random.some(operators, 0.06)]);
    return writeObject([...chosen].map((operator) => [operator, writeOperand(writer, operator, one)]));
  });
}

function writeOperand(writer: Writer, operator: string, one: () => Written): Written {
  const { random } = writer;
  if (operator === 'is') {
    const choose = () => writeToken(random, random.pick(['NULL', 'NOT_NULL']));
    return writer.value({ type: 'FilterIs', canBeNull: false }, choose);
  }
  if (random.chance(0.03)) return nullValue;
  if (operator !== 'in') return writer.value({ type: 'Int' }, one);
  const item = () => writer.value({ type: 'Int', isRequired: true }, one);
  const many = () => writeList(Array.from({ length: random.int(0, 3) }, item));
  return writer.value({ type: '[Int!]' }, () => (random.chance(0.15) ? one() : many()));
}
