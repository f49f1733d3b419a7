/**
 * Reads a collection page after page, as a client does that follows the cursors until there are no more.
 */
import type { Json } from './execution.ts';

interface Walk {
  /** The arguments of each page beside its size and cursor. */
  readonly orderBy: string;
  readonly size: number;
  readonly backward: boolean;
}

/** The `id` of each row of the pages of `field`, in their order. */
export async function walkPages(
  ask: (query: string) => Promise<Json>,
  field: string,
  { orderBy, size, backward }: Walk,
): Promise<unknown[]> {
  const seen: unknown[] = [];
  for (let cursor: string | null = null, more = true; more; ) {
    const at: string = cursor === null ? '' : `, ${backward ? 'before' : 'after'}: "${cursor}"`;
    const page = `${backward ? 'last' : 'first'}: ${size}, orderBy: ${orderBy}${at}`;
    const { c } = await ask(
      `{ c: ${field}(${page}) { edges { node { id } } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }`,
    );
    const ids = c.edges.map(({ node }: Json) => node.id);
    if (backward) seen.unshift(...ids);
    else seen.push(...ids);
    cursor = backward ? c.pageInfo.startCursor : c.pageInfo.endCursor;
    more = backward ? c.pageInfo.hasPreviousPage : c.pageInfo.hasNextPage;
  }
  return seen;
}
