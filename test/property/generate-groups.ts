/**
 * Invents groups: keys of every type, truncated dates and times, conditions, orders and pages.
 */
import { momentOf } from './evaluate-groups.ts';
import type { Entity, Groups } from './expected-model.ts';
import { writeAggregate } from './generate-related.ts';
import { argumentsText, type Material, writeDirection, writeFilter } from './generate-values.ts';
import type { Random } from './random.ts';
import { entityOf } from './reader.ts';
import { type AggregateFunction, aggregateFunctions } from './types.ts';
import type { Column } from './world.ts';
import { nullValue, type Writer, type Written, writeList, writeObject, writeToken } from './writer.ts';

/** The field `groups` of a connection. @param computed What is selected of a group beside its key. */
export function writeGroups(
  writer: Writer,
  material: Material,
  entity: Entity,
  { groups, computed }: { readonly groups: Groups; readonly computed: readonly string[] },
): string {
  const { random } = writer;
  const { base } = entity;
  const all = [...groups.keys].map(([name, column]): Key => ({ names: [name], bases: [base], column }));
  const picked = [pickKey(random, material, entity, all), ...random.some(all, 0.15)];
  const chosen = random.chance(0.02) ? [] : [...new Map(picked.map((key) => [key.names.join(), key])).values()];
  const by = random.chance(0.02) && chosen.length > 0 ? [...chosen, chosen[0]!] : chosen;
  const key = (item: Key) => writer.value({ type: `${base}GroupBy`, isRequired: true }, () => writeKey(writer, item));
  const entries: [string, Written][] = [
    ['by', writer.value({ type: `[${base}GroupBy!]`, isRequired: true }, () => writeList(by.map(key)))],
  ];
  if (groups.computations !== null && random.chance(0.4)) {
    const filter = () => writer.value({ type: `${base}Filter` }, () => writeFilter(writer, material, entity, 1, 1));
    const asked = { filter, computations: groups.computations };
    entries.push(['having', random.chance(0.03) ? nullValue : writeAggregate(writer, material, entity, asked)]);
  }
  if (groups.isOrdered && random.chance(0.5)) entries.push(['orderBy', writeOrder(writer, entity, chosen)]);
  for (const [name, most] of random.some(
    [
      ['first', 12],
      ['offset', 4],
    ] as const,
    0.3,
  )) {
    const number = random.chance(0.02) ? -1 : random.int(0, most);
    const write = () => ({ text: String(number), json: number });
    entries.push([name, random.chance(0.03) ? nullValue : writer.value({ type: 'Int' }, write)]);
  }
  const keySelection = `key ${writeKeySelection(writer, base, [...chosen, random.pick(all)])}`;
  const selection = writer.selections(`${base}Aggregate`, [keySelection, 'count', ...computed]);
  return `groups${argumentsText(random.shuffle(entries))} ${selection}`;
}

/** A column of the row, or of the row that relationships lead to. */
interface Key {
  /** Of the relationships, then of the column. */
  readonly names: readonly string[];
  /** Names of the tables on the way, the row's own first. */
  readonly bases: readonly string[];
  readonly column: Column;
}

function pickKey(random: Random, material: Material, entity: Entity, own: readonly Key[]): Key {
  const paths = [...entity.groupPaths];
  if (paths.length === 0 || random.chance(0.5)) return random.pick(own);
  const [name, { target }] = random.pick(paths);
  const other = entityOf(material.model, target);
  const keys = [...other.groupKeys].map(([key, column]): Key => ({ names: [key], bases: [other.base], column }));
  const { names, bases, column } = random.chance(0.4) ? pickKey(random, material, other, keys) : random.pick(keys);
  return names.length > 3 ? random.pick(own) : { names: [name, ...names], bases: [entity.base, ...bases], column };
}

/** The fields of keys, those of related rows below one another. */
function writeKeySelection(writer: Writer, base: string, keys: readonly Key[]): string {
  const fields = [...Map.groupBy(keys, ({ names }) => names[0]!)].map(([name, all]) => {
    const below = all.flatMap(({ names, bases, column }) =>
      names.length > 1 ? [{ names: names.slice(1), bases: bases.slice(1), column }] : [],
    );
    return below.length === 0 ? name : `${name} ${writeKeySelection(writer, below[0]!.bases[0]!, below)}`;
  });
  return writer.selections(`${base}GroupKey`, [...fields, '__typename']);
}

function writeKey(writer: Writer, { names, bases, column }: Key): Written {
  const { random } = writer;
  const [name, ...further] = names as [string, ...string[]];
  const base = bases[0]!;
  if (further.length > 0) {
    const below = { names: further, bases: bases.slice(1), column };
    const type = `${below.bases[0]}GroupBy`;
    return writeObject([[name, writer.value({ type, canBeNull: false }, () => writeKey(writer, below))]]);
  }
  const entries: [string, Written][] = [
    ['column', writer.value({ type: `${base}Column`, isRequired: true }, () => writeToken(random, name))],
  ];
  const moment = momentOf(column);
  const isMoment = ['date', 'time', 'timestamp', 'timestamptz'].includes(moment);
  if (random.chance(isMoment ? 0.8 : 0.01)) {
    const wrong = random.chance(0.03);
    const dates = ['YEAR', 'QUARTER', 'MONTH', 'WEEK', 'DAY'];
    const times = ['HOUR', 'MINUTE'];
    const fitting = moment === 'date' ? dates : moment === 'time' ? times : [...dates, ...times];
    const unit = random.pick(wrong ? [...dates, ...times] : fitting);
    entries.push([
      'truncate',
      writer.value({ type: 'DateTruncation', canBeNull: false }, () => writeToken(random, unit)),
    ]);
    if (random.chance(moment === 'timestamptz' ? 0.6 : 0.01)) {
      const zone = random.pick([
        'Europe/Zurich',
        'UTC',
        'Asia/Kathmandu',
        'America/St_Johns',
        ...(wrong ? ['AAA1'] : []),
      ]);
      entries.push(['timeZone', writer.value({ type: 'String' }, () => ({ text: JSON.stringify(zone), json: zone }))]);
    }
  }
  return writeObject(random.shuffle(entries));
}

function writeKeyOrder(names: readonly string[], direction: Written): Written {
  return names.reduceRight((inner, name) => writeObject([[name, inner]]), direction);
}

function writeOrder(writer: Writer, entity: Entity, chosen: readonly Key[]): Written {
  const { random } = writer;
  const { base } = entity;
  const direct = () => (random.chance(0.04) ? nullValue : writeDirection(writer));
  const of = (eligible: readonly string[], type: string): Written => {
    if (eligible.length === 0) return nullValue;
    return writer.value({ type }, () => writeObject([[random.pick(eligible), direct()]]));
  };
  const columns = (isEligible: (column: Column) => boolean) =>
    [...entity.columns].filter(([, column]) => isEligible(column)).map(([name]) => name);
  const element = () => {
    const name = random.pick(['key', 'key', 'count', 'count', ...aggregateFunctions]);
    if (name === 'count') return writeObject([[name, direct()]]);
    if (name === 'key') {
      if (random.chance(0.02))
        return writeObject([
          [
            name,
            of(
              columns(({ type }) => type.canOrder),
              `${base}OrderBy`,
            ),
          ],
        ]);
      const type = `${base}OrderBy`;
      const below = () => writeKeyOrder(random.pick(chosen).names, direct());
      return writeObject([[name, chosen.length === 0 ? nullValue : writer.value({ type }, below)]]);
    }
    const eligible = [...(entity.orderComputations.get(name as AggregateFunction)?.keys() ?? [])];
    return eligible.length === 0 ? writeObject([]) : writeObject([[name, of(eligible, `${base}OrderBy`)]]);
  };
  const type = `${base}AggregateOrderBy`;
  const many = () =>
    writeList(Array.from({ length: random.int(0, 3) }, () => writer.value({ type, isRequired: true }, element)));
  return writer.value({ type: `[${type}!]` }, () => (random.chance(0.1) ? element() : many()));
}
