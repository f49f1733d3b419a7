/**
 * Invents filters through relationships: of one related row, of some, of every and of none, and of all of them together.
 */

import type { Computation, Entity, Relationship } from './expected-model.ts';
import { type Material, writeColumnFilter, writeFilter } from './generate-values.ts';
import { entityOf } from './reader.ts';
import { computedType } from './types.ts';
import type { Column, Relation } from './world.ts';
import { nullValue, type Writer, type Written, writeList, writeObject, writeToken } from './writer.ts';

/** Which rows are asked for their related ones. */
interface Asked {
  readonly from: Relation;
  readonly relationship: Relationship;
}

/** The entry of a relationship. @param passed Relationships passed, this one included. */
export function writeRelated(
  writer: Writer,
  material: Material,
  { from, relationship }: Asked,
  passed: number,
): Written {
  const { random } = writer;
  const { kind, target } = relationship;
  const entity = entityOf(material.model, target);
  const sizes = () => material.sizes(from, relationship);
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
            ? writeAggregate(writer, material, entity, { filter, computations: entity.computations, sizes })
            : filter(),
        ];
      }),
    );
  });
}

/** What can be asked of some rows together. */
interface Together {
  readonly filter: () => Written;
  readonly computations: Entity['computations'];
  /** How many rows there are in each case. */
  readonly sizes?: () => readonly number[];
}

/** What is asked of some rows together. */
export function writeAggregate(
  writer: Writer,
  material: Material,
  entity: Entity,
  { filter, computations: asked, sizes }: Together,
): Written {
  const { random } = writer;
  return writer.value({ type: `${entity.base}AggregateFilter` }, () => {
    const entries: [string, Written][] = [];
    const computations = [...(asked ?? [])];
    if (random.chance(0.4)) entries.push(['filter', random.chance(0.05) ? nullValue : filter()]);
    if (random.chance(0.6)) entries.push(['count', writeNumber(writer, 1001, sizes?.())]);
    for (const [name, columns] of random.some(computations, entries.length === 0 ? 0.22 : 0.1)) {
      const type = `${entity.base}${name === 'distinctCount' ? 'DistinctCount' : 'AggregateColumn'}Filter`;
      const write = () => writeComputation(writer, material, { entity, name, columns });
      entries.push([name, random.chance(0.04) ? nullValue : writer.value({ type }, write)]);
    }
    return writeObject(random.shuffle(entries));
  });
}

/** One condition on the related rows, with at most one of the row, because others would often decide instead; null: there are none to ask. */
export function writeQuestion(writer: Writer, material: Material, entity: Entity): Written | null {
  const { random } = writer;
  const all = [...entity.related].filter(([, { kind }]) => kind === 'to-many');
  const sizesOf = (relationship: Relationship) => material.sizes(entity.relation, relationship);
  const filled = all.filter(([, relationship]) => sizesOf(relationship).some((size) => size > 0));
  if (filled.length === 0) return null;
  const [name, relationship] = random.pick(filled);
  const target = entityOf(material.model, relationship.target);
  const isTogether = target.computations !== null && random.chance(0.5);
  const [kind, asked] = isTogether
    ? ['aggregate', writeObject([['count', writeNumber(writer, 1001, sizesOf(relationship))]])]
    : [random.pick(['every', 'every', 'some', 'none']), writeUnknown(writer, material, target)];
  const question = writeObject([[name, writeObject([[kind, asked]])]]);
  const taken = new Set([...entity.filters.keys(), ...entity.searches.keys()]);
  if (['and', 'or', 'not'].some((word) => taken.has(word)) || random.chance(0.6)) return question;
  // Beside a condition that is unknown for some rows: the question itself never is.
  const both = [question, writeUnknown(writer, material, entity)];
  const joined = writeObject([[random.pick(['and', 'or']), writeList(random.shuffle(both))]]);
  return random.chance(0.6) ? writeObject([['not', joined]]) : joined;
}

/** A condition that is unknown for some rows, where a column has nulls. */
function writeUnknown(writer: Writer, material: Material, entity: Entity): Written {
  const { random } = writer;
  const all = [...entity.filters];
  const withNulls = all.filter(([, column]) => material.texts(entity.relation, column.name).includes(null));
  const choices = withNulls.length > 0 ? withNulls : all;
  if (choices.length === 0) return writeObject([]);
  const [name, column] = random.pick(choices);
  const condition = writeObject([[name, writeColumnFilter(writer, material, entity, column)]]);
  const isColumn = entity.filters.has('not') || entity.searches.has('not');
  return !isColumn && random.chance(0.3) ? writeObject([['not', condition]]) : condition;
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

/** An `IntFilter` of a number of rows. @param sizes Numbers that occur: those beside them tell the most. */
function writeNumber(writer: Writer, most: number, sizes: readonly number[] = []): Written {
  const { random } = writer;
  if (random.chance(0.04)) return nullValue;
  const near = [...new Set(sizes)].flatMap((size) => [size - 1, size, size, size + 1]);
  const one = (): Written => {
    const numbers = near.length > 0 && random.chance(0.7) ? near : [-1, 0, 0, 1, 1, 1, 2, 2, 3, 4, 7];
    const number = random.chance(0.01) ? most : random.pick(numbers);
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
