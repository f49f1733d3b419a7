/**
 * Asks for one page after the other, forward and backward, until there is no further one: every row is seen once, both ways in one order.
 */
import type { Checked } from './check-operation.ts';
import type { Entity } from './expected-model.ts';
import type { Operation } from './generate-query.ts';
import { argumentsText, type Material, writeFilter, writeOrder } from './generate-values.ts';
import type { Random } from './random.ts';
import { createWriter, nullValue, type Written, writeList } from './writer.ts';

/** An operation with what came of it. */
export interface Ran extends Checked {
  readonly operation: Operation;
}

/** Pages of one collection. */
export interface Walk {
  readonly entity: Entity;
  /** Whether rows are left out. */
  readonly isFiltered: boolean;
  /** The page behind a cursor, or the first one. */
  page(isBackward: boolean, cursor: string | null): Operation;
}

/** Invents pages; null where cursors may lose rows, or there is nothing to order by. */
export function generateWalk(random: Random, material: Material): Walk | null {
  // The key of a view may be null, and such a row has no edge.
  const entities = [...material.model.entities.values()].filter(
    ({ relation, isExact }) => isExact && relation.kind === 'table' && material.nodeIds(relation).length > 2,
  );
  if (entities.length === 0) return null;
  const entity = random.pick(entities);
  const writer = createWriter(random);
  const isFiltered = random.chance(0.3);
  const canOrder = [...entity.columns.values()].some(({ type }) => type.canOrder);
  const given: [string, Written][] = [
    ['orderBy', canOrder ? writeOrder(writer, material, entity) : nullValue],
    ['filter', isFiltered ? writeFilter(writer, material, entity) : nullValue],
  ];
  // Of a page of first rows, the columns stay at the front of the order.
  const isDistinct = entity.distinctOn.size > 0 && random.chance(0.3);
  const names = isDistinct
    ? new Set([random.pick([...entity.distinctOn.keys()]), random.pick([...entity.distinctOn.keys()])])
    : [];
  const tokens = [...names].map((name): Written => ({ text: name, json: name }));
  if (isDistinct) given.push(['distinctOn', writeList(tokens)]);
  const known = given.filter(([, { json }]) => json !== null);
  const size = random.int(2, 6);
  const name = `${entity.base.slice(0, 1).toLowerCase()}${entity.base.slice(1)}Collection`;
  const selection =
    '{ edges { cursor node { nodeId } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }';
  const pageOf = (isBackward: boolean): Operation => {
    const arguments_ = argumentsText([
      ...known,
      [isBackward ? 'last' : 'first', { text: String(size), json: size }],
      [isBackward ? 'before' : 'after', { text: '"@"', json: '@' }],
    ]);
    return writer.finish('query', [`page: ${name}${arguments_} ${selection}`]);
  };
  return {
    entity,
    isFiltered: isFiltered || isDistinct,
    page(isBackward, cursor) {
      const { query, variables } = pageOf(isBackward);
      return { query: query.replace(': "@"', () => `: ${JSON.stringify(cursor)}`), variables };
    },
  };
}

interface Connection {
  readonly edges: readonly { readonly node: { readonly nodeId: string } }[];
  readonly pageInfo: Readonly<Record<'hasNextPage' | 'hasPreviousPage', boolean>> &
    Readonly<Record<'startCursor' | 'endCursor', string | null>>;
}

/** Runs the pages. What is returned is the first that fails, or the last. */
export async function walkPages(
  material: Material,
  walk: Walk,
  run: (operation: Operation) => Promise<Ran>,
): Promise<Ran> {
  const ways: string[][] = [];
  let last: Ran | null = null;
  for (const isBackward of [false, true]) {
    const seen: string[] = [];
    const all = material.nodeIds(walk.entity.relation).length;
    for (let cursor: string | null = null, pages = 0; pages <= all; pages++) {
      last = await run(walk.page(isBackward, cursor));
      if (last.mismatch !== null || last.answer === null) return last;
      const { data } = JSON.parse(String(last.answer.body)) as { data: { page: Connection } | null };
      // Its order or filter is refused.
      if (data === null) return last;
      const { edges, pageInfo } = data.page;
      const ids = edges.map(({ node }) => node.nodeId);
      if (isBackward) seen.unshift(...ids);
      else seen.push(...ids);
      cursor = isBackward ? pageInfo.startCursor : pageInfo.endCursor;
      if (!(isBackward ? pageInfo.hasPreviousPage : pageInfo.hasNextPage)) break;
    }
    ways.push(seen);
  }
  const [forward, backward] = ways.map((seen) => seen.join('\n')) as [string, string];
  const once = [...new Set(walk.isFiltered ? ways[0] : material.nodeIds(walk.entity.relation))].sort().join('\n');
  const result = last as Ran;
  if (forward !== backward)
    return { ...result, mismatch: { where: 'all pages, backward', expected: forward, actual: backward } };
  const actual = [...(ways[0] as string[])].sort().join('\n');
  return { ...result, mismatch: actual === once ? null : { where: 'all pages', expected: once, actual } };
}
