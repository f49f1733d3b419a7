/**
 * Finds the table behind each automatically updatable view, through views of views, and the columns passed on unchanged.
 */
import type { CatalogIndex, ViewBase } from './catalog.ts';
import { isNode, nodesOf, readNodeTree, type TreeNode } from './node-tree.ts';

/** Oid and stored query of each view that passes inserts to what it reads. */
export type ViewQueries = readonly (readonly [oid: string, query: string])[];

/** The bases by oid of the view. @param indexes Unique indexes by oid of their table. */
export function readViewBases(
  queries: ViewQueries,
  indexes: ReadonlyMap<string, readonly CatalogIndex[]>,
): ReadonlyMap<string, ViewBase> {
  const sources = new Map(queries.map(([oid, query]) => [oid, readSource(query)]));
  const resolve = (oid: string): ViewSource | null => {
    const source = sources.get(oid) ?? null;
    if (source === null || !sources.has(source.relation)) return source;
    const inner = resolve(source.relation);
    return (
      inner && {
        relation: inner.relation,
        columns: compose(source.columns, inner.columns),
        showsAllRows: source.showsAllRows && inner.showsAllRows,
      }
    );
  };
  return new Map(
    [...sources.keys()].flatMap((oid) => {
      const source = resolve(oid);
      return source === null ? [] : [[oid, { ...source, indexes: indexes.get(source.relation) ?? [] }]];
    }),
  );
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

// PostgreSQL notes the origin of an output column only if it is a column as it is. Columns of the system have negative
// numbers.
function isPassedOn({ resorigtbl, resorigcol, resjunk }: TreeNode): boolean {
  return resorigtbl !== '0' && Number(resorigcol) > 0 && resjunk === 'false';
}

/** @param outer By column of the inner view. @param inner By column of what it reads. */
function compose(outer: ReadonlyMap<number, number>, inner: ReadonlyMap<number, number>): ReadonlyMap<number, number> {
  return new Map([...inner].flatMap(([column, number]) => (outer.has(number) ? [[column, outer.get(number)!]] : [])));
}
