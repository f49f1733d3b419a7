/**
 * Invents junction tables: with the two keys as their key or with one of their own, to two tables or twice to one, with further columns.
 */

import {
  bareColumn,
  generateGrants,
  generateLinkNames,
  generateOptions,
  generatePolicies,
  plainColumn,
} from './generate-relations.ts';
import type { Ground } from './generate-world.ts';
import { type Column, columnOf, type ForeignKey, type Relation, type World } from './world.ts';

/** The relations with tables that link some of their tables. */
export function generateLinks(
  ground: Ground,
  made: Pick<World, 'relations' | 'foreignKeys'>,
): Pick<World, 'relations' | 'foreignKeys'> {
  const { random } = ground;
  const tables = made.relations.filter(({ kind }) => kind === 'table');
  const links = Array.from({ length: random.pick([0, 1, 1, 2]) }, (_, index) => {
    const from = random.pick(tables);
    const to = random.chance(0.3) ? from : random.pick(tables);
    return generateTable(ground, `${random.pick(['link', 'Link'])}_${index}`, [from, to]);
  });
  // Views come last, as they are created.
  const views = made.relations.filter(({ kind }) => kind !== 'table');
  return {
    relations: [...tables, ...links.map(({ table }) => table), ...views],
    foreignKeys: [...made.foreignKeys, ...links.flatMap(({ keys }) => keys)],
  };
}

function generateTable(
  { schemas, types, random }: Ground,
  name: string,
  sides: readonly [Relation, Relation],
): { readonly table: Relation; readonly keys: readonly ForeignKey[] } {
  const integer = types.find(({ sql }) => sql === 'integer')!;
  const hasOwnKey = random.chance(0.7);
  const notNull = !hasOwnKey || random.chance(0.3);
  const references = sides.map((to, side) =>
    to.key.map((column, index): Column => {
      const suffix = random.pick(['_id', 'Id', '_ref']);
      return {
        ...bareColumn(`${side === 0 ? 'one' : 'two'}${index || ''}${suffix}`, columnOf(to, column).type),
        notNull,
      };
    }),
  );
  const further = random
    .some(['weight', 'since', 'note'], 0.4)
    .map((word) => plainColumn(random, word, random.pick(types)));
  const own: readonly Column[] = hasOwnKey ? [{ ...bareColumn('id', integer), notNull: true, kind: 'identity' }] : [];
  const columns = random.shuffle([...own, ...references.flat(), ...further]);
  const keyed = hasOwnKey ? own : references.flat();
  const key = columns.filter((column) => keyed.includes(column)).map((column) => column.name);
  const isNamed = sides[0] === sides[1] ? random.chance(0.9) : random.chance(0.3);
  const names = { from: isNamed ? `${name}_to` : null, to: isNamed ? `${name}_back` : null };
  const draft: Relation = {
    schema: random.pick(schemas),
    name,
    kind: 'table',
    columns,
    key,
    uniques: [],
    ...generateOptions(random),
    grants: generateGrants(random, columns, key),
    policies: null,
    definition: null,
    invoker: false,
    links: random.chance(0.2) ? generateLinkNames(random, name) : names,
  };
  const table = { ...draft, policies: generatePolicies(random, draft) };
  const keys = sides.map(
    (to, side): ForeignKey => ({
      kind: 'constraint',
      name: `${name}_fk${side}`,
      from: table,
      columns: references[side]!.map((column) => column.name),
      to,
      toColumns: to.key,
      foreignName: random.chance(0.3) ? `side${side}` : null,
      localName: random.chance(0.5) ? `links${side}_${name}` : null,
      onDelete: random.pick(notNull ? ['no action', 'cascade'] : ['no action', 'cascade', 'set null']),
      deferred: random.chance(0.2),
    }),
  );
  return { table, keys };
}
