/** The generator makes each construct often: one that is rare in a run is not proven by it. */
import { expect, test } from 'vitest';
import { constructsOf } from './constructs.ts';
import { encodeArray } from './encoded.ts';
import { effectiveOrder } from './evaluate-order.ts';
import { expectedModelOf } from './expected-model.ts';
import { generateMutation } from './generate-mutation.ts';
import { generateQuery } from './generate-query.ts';
import type { Material } from './generate-values.ts';
import { generateWorld } from './generate-world.ts';
import { createRandom } from './random.ts';
import { roles } from './world.ts';

test('each construct occurs', { timeout: 300_000 }, () => {
  const random = createRandom(1);
  const counts = new Map<string, number>();
  for (let done = 0; done < 5000; done += 50) {
    const world = generateWorld(random.fork(), 'w');
    const model = expectedModelOf(world, random.pick(roles));
    const material: Material = {
      model,
      texts: (relation, column) => relation.columns.find(({ name }) => name === column)?.type.values ?? [],
      nodeIds: ({ schema, name }) => [encodeArray([schema.name, name, '1'].map((text) => JSON.stringify(text)))],
      sizes: () => [0, 1, 2, 3],
      cursors: [...model.entities.values()].map((entity) => {
        const { order } = effectiveOrder(model, entity, null, null);
        return { entity, order, text: encodeArray(order.map(() => (random.chance(0.3) ? 'null' : '1'))) };
      }),
    };
    for (let count = 0; count < 50; count++) {
      const mutation = random.chance(0.2) ? generateMutation(random.fork(), world, material) : null;
      const operation = mutation ?? generateQuery(random.fork(), material);
      for (const name of constructsOf(operation, model)) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  const rare = names.filter((name) => (counts.get(name) ?? 0) < 8);
  expect(rare.map((name) => `${name}: ${counts.get(name) ?? 0}`)).toEqual([]);
});

const depths = ['1 deep', '2 deep', '3 deep'];
const names = [
  ...['some', 'every', 'none'].flatMap((name) => depths.map((depth) => `filter by ${name}, ${depth}`)),
  ...['0 deep', '1 deep', '2 deep'].map((depth) => `filter by aggregate, ${depth}`),
  ...[
    'distinctCount',
    'sum',
    'avg',
    'min',
    'max',
    'stddev',
    'variance',
    'boolAnd',
    'boolOr',
    'links',
    'a part of JSON',
    'hasKey',
    'hasAllKeys',
    'hasAnyKey',
    'matches',
    'anyElement',
    'everyElement',
    'a list of an enum',
  ].map((name) => `filter by ${name}`),
  ...['0 deep', '1 deep', '2 deep', '3 deep'].map((depth) => `order by a column, ${depth}`),
  ...depths.map((depth) => `order by count, ${depth}`),
  ...['sum', 'avg', 'min', 'max', 'stddev', 'variance', 'boolAnd', 'boolOr', 'links'].map((name) => `order by ${name}`),
  ...[
    'after',
    'before',
    'after a null',
    'before a null',
    'after no cursor',
    'first',
    'last',
    'offset',
    'distinctOn',
    'distinctCount',
  ],
  ...['', ' by', ' having', ' orderBy', ' first', ' offset', ' by truncate', ' by timeZone'].map(
    (name) => `groups${name}`,
  ),
  ...[
    'links',
    'links below a written row',
    'totalCount atMost',
    'count of a column',
    'a part of JSON',
    'a part of JSON of a function',
    'filter by a function',
    'orderBy by a function',
    'filter by the content of a function',
    'filter by a call',
    'orderBy by a call',
    'a field with an argument',
    'filter by text search',
    'filter by a phrase in a search',
    'an unknown configuration',
    'filter by a call with a list',
    'filter by related rows and a column in a not',
    'distinctOn behind a cursor',
    'distinctOn beside an order by related rows',
    'order by rank',
    'a rank',
    'groups by a related row',
  ],
];
