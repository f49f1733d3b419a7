/**
 * Invents groups: keys of every type, truncated dates and times, conditions, orders and pages.
 */
import { momentOf } from './evaluate-groups.ts';
import type { Entity, Groups } from './expected-model.ts';
import { writeAggregate } from './generate-related.ts';
import { argumentsText, type Material, writeDirection, writeFilter } from './generate-values.ts';
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
  const all = [...groups.keys];
  const chosen = random.chance(0.02) ? [] : [...new Map([random.pick(all), ...random.some(all, 0.15)])];
  const by = random.chance(0.02) && chosen.length > 0 ? [...chosen, chosen[0]!] : chosen;
  const key = (item: readonly [string, Column]) =>
    writer.value({ type: `${base}GroupBy`, isRequired: true }, () => writeKey(writer, base, item));
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
  const keyFields = [...new Set([...chosen.map(([name]) => name), random.pick(all)[0], '__typename'])];
  const keySelection = `key ${writer.selections(`${base}GroupKey`, keyFields)}`;
  const selection = writer.selections(`${base}Aggregate`, [keySelection, 'count', ...computed]);
  return `groups${argumentsText(random.shuffle(entries))} ${selection}`;
}

function writeKey(writer: Writer, base: string, [name, column]: readonly [string, Column]): Written {
  const { random } = writer;
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

function writeOrder(writer: Writer, entity: Entity, chosen: readonly (readonly [string, Column])[]): Written {
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
      const sortable = random.chance(0.02) ? columns(({ type }) => type.canOrder) : chosen.map(([key]) => key);
      return writeObject([[name, of(sortable, `${base}OrderBy`)]]);
    }
    const eligible = [...(entity.orderComputations.get(name as AggregateFunction)?.keys() ?? [])];
    return eligible.length === 0 ? writeObject([]) : writeObject([[name, of(eligible, `${base}OrderBy`)]]);
  };
  const type = `${base}AggregateOrderBy`;
  const many = () =>
    writeList(Array.from({ length: random.int(0, 3) }, () => writer.value({ type, isRequired: true }, element)));
  return writer.value({ type: `[${type}!]` }, () => (random.chance(0.1) ? element() : many()));
}
