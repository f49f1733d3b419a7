/**
 * Finds the table behind each automatically updatable view, through views of views, and the columns passed on unchanged.
 */
import type { CatalogIndex, ViewBase } from './catalog.ts';
import { isNode, nodesOf, readNodeTree, type TreeNode } from './node-tree.ts';

/** Oid and stored query of each view that passes inserts to what it reads. */
export type ViewQueries = readonly (readonly [oid: string, query: string])[];

/**
 * Finds the base of a view by its oid; null for none. Queries are long, and few roles insert into views, so each is read
 * when it is first needed.
 *
 * @param indexes Unique indexes by oid of their table.
 */
export function findViewBases(
  queries: ViewQueries,
  indexes: ReadonlyMap<string, readonly CatalogIndex[]>,
): (oid: string) => ViewBase | null {
  const texts = new Map(queries);
  const known = new Map<string, ViewSource | null>();
  const resolve = (oid: string): ViewSource | null => {
    const found = known.get(oid);
    if (found !== undefined) return found;
    const text = texts.get(oid);
    const source = text === undefined ? null : readSource(text);
    const isOfView = source !== null && texts.has(source.relation);
    const inner = isOfView ? resolve(source.relation) : null;
    const base = isOfView ? inner && compose(source, inner) : source;
    known.set(oid, base);
    return base;
  };
  return (oid) => {
    const source = resolve(oid);
    return source && { ...source, indexes: indexes.get(source.relation) ?? [] };
  };
}

interface ViewSource extends Omit<ViewBase, 'indexes'> {
  /** Oid of the table or view that the view reads. */
  readonly relation: string;
}

function readSource(query: string): ViewSource | null {
  const [top] = nodesOf(readNodeTree(query));
  const passed = nodesOf(top?.targetList).filter(isPassedOn);
  const relation = passed[0]?.resorigtbl;
  if (typeof relation !== 'string') return null;
  return {
    relation,
    columns: new Map(passed.map(({ resorigcol, resno }) => [Number(resorigcol), Number(resno)])),
    showsAllRows: isNode(top?.jointree) && top.jointree.quals === '<>',
  };
}

// PostgreSQL records an origin only for columns that are passed through unchanged. System columns have negative numbers.
function isPassedOn({ resorigtbl, resorigcol, resjunk }: TreeNode): boolean {
  return resorigtbl !== '0' && Number(resorigcol) > 0 && resjunk === 'false';
}

function compose(outer: ViewSource, inner: ViewSource): ViewSource {
  const columns = [...inner.columns].flatMap(([column, number]) => {
    const own = outer.columns.get(number);
    return own === undefined ? [] : [[column, own] as const];
  });
  const showsAllRows = outer.showsAllRows && inner.showsAllRows;
  return { relation: inner.relation, columns: new Map(columns), showsAllRows };
}
