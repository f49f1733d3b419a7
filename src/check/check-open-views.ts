/**
 * The check of `pgreflect check` for views whose condition hides rows from a role that asks them by filters. PostgreSQL may
 * apply a filter before the view's own condition, unless the view is a security barrier: one that fails on a value tells it.
 */
import { isNode, nodesOf, readNodeTree, type TreeNode, type TreeValue } from '../graphql/catalog/node-tree.ts';
import { quoteName } from '../graphql/catalog/quote-name.ts';
import type { Table } from '../graphql/model/model.ts';
import { isJson } from '../graphql/model/tables/columns.ts';
import { loadSqlFile } from '../postgres/system/sql-file.ts';
import { asStatement, type Check, type Finding, firstOf, remark } from './finding.ts';

/** One row of sql/check/open-views.sql. */
interface OpenView {
  readonly oid: string;
  readonly name: string;
  readonly queries: readonly string[];
  readonly hidden: Readonly<Record<string, readonly string[]>>;
  readonly fix: string;
}

/** Views that let a role tell the rows which they leave out. */
export const findOpenViews: Check = async ({ tx, schemas, roles, models }) => {
  const rows = await tx.query(loadSqlFile('check/open-views.sql'), [schemas, roles]);
  return (rows as readonly unknown[] as readonly OpenView[]).flatMap(
    ({ oid, name, queries, hidden, fix }): Finding[] => {
      const askers = models.flatMap(({ role, model }) => {
        const table = model.tables.get(oid);
        return hidden[role] !== undefined && table !== undefined && canTell(table) ? [role] : [];
      });
      if (askers.length === 0 || !queries.some((query) => nodesOf(readNodeTree(query)).some(leavesRowsOut))) return [];
      const tables = [...new Set(askers.flatMap((role) => hidden[role]!))].sort();
      const list = askers.map(quoteName).join(', ');
      const message = `Filters of ${list} can tell what is in rows that ${name} leaves out: it is no security barrier, and reads ${firstOf(tables)} with its owner's rights.`;
      return [
        {
          check: 'view_without_barrier',
          severity: 'warning',
          object: name,
          message,
          fix: [
            asStatement(fix),
            remark('From then on, filters on it use an index only with operators that are leakproof.'),
          ].join('\n'),
        },
      ];
    },
  );
};

/** Whether filters may fail on a value: patterns do, and functions may. */
function canTell({ columns, filterFunctions }: Table): boolean {
  const isText = ({ filterable, type }: Table['columns'][number]) =>
    filterable && type?.kind === 'scalar' && (type.scalar === 'String' || isJson(type));
  return filterFunctions.length > 0 || columns.some(isText);
}

/** Whether a query has a condition that filters on its result may pass. */
function leavesRowsOut(query: TreeNode): boolean {
  if (isNode(query.limitCount) || isNode(query.limitOffset) || query.hasWindowFuncs === 'true') return false;
  if (query.hasAggs === 'true' && nodesOf(query.groupClause).length === 0) return false;
  const { jointree } = query;
  if (isNode(jointree) && (isNode(jointree.quals) || nodesOf(jointree.fromlist).some(joinLeavesRowsOut))) return true;
  return nodesOf(query.rtable).some(({ subquery }) => isNode(subquery) && leavesRowsOut(subquery));
}

/** A join by columns alone is taken to find a row for each. */
function joinLeavesRowsOut(item: TreeNode): boolean {
  const { larg, rarg, jointype, quals } = item;
  if (jointype === '0' && isNode(quals) && namesMoreThanColumns(quals)) return true;
  return [larg, rarg].some((side) => isNode(side) && joinLeavesRowsOut(side));
}

function namesMoreThanColumns(value: TreeValue): boolean {
  if (typeof value === 'string') return false;
  if (!isNode(value)) return (value as readonly TreeValue[]).some(namesMoreThanColumns);
  return (
    /^(FUNCEXPR|CONST|SQLVALUEFUNCTION|SUBLINK)$/.test(String(value[''])) ||
    Object.values(value).some(namesMoreThanColumns)
  );
}
