/**
 * Checks of `pgreflect check` for requests that slow down as tables grow: missing indexes, and policies that compute
 * the same value for every row. One check per function; the statements are in `sql/`.
 */
import { type Column, comparedAs } from '../graphql/model/model.ts';
import { isJson, isSearchable } from '../graphql/model/tables/columns.ts';
import { loadSqlFile } from '../postgres/system/sql-file.ts';
import { portableSql } from '../shared/portable-sql.ts';
import { asStatement, type Check, type CheckScope, type Checks, type Finding, statementCheck } from './finding.ts';
import { comparesColumn, wrapCalls } from './policy-expression.ts';

/** Foreign keys without a usable index. */
const findUnindexedKeys = statementCheck(
  'check/foreign-keys.sql',
  ({ name, constraint, partial }) => ({
    check: 'foreign_key_unindexed',
    // A partial index may be intended, if only its rows are queried.
    severity: partial === null ? 'warning' : 'note',
    object: String(name),
    message:
      partial === null
        ? `The foreign key "${constraint}" of ${name} has no index, so nested collections scan the whole table.`
        : `The foreign key "${constraint}" of ${name} has only a partial index, where ${partial}: it serves only requests for such rows.`,
  }),
  ({ schemas }) => [schemas],
);

/** What policies make slow. */
const findSlowPolicies: Check = async ({ tx, schemas }) => {
  const rows = await tx.query(loadSqlFile('check/policies.sql'), [schemas]);
  const policies = rows as readonly unknown[] as readonly PolicyRow[];
  return [...findUnindexedColumns(policies), ...policies.flatMap(describeCallsPerRow)];
};

/** Columns that policies compare with a property of the caller, without an index that starts with them. */
function findUnindexedColumns(policies: readonly PolicyRow[]): readonly Finding[] {
  const found = new Map<string, Finding>();
  for (const { name, using, columns } of policies) {
    for (const { table, column, indexed, fix } of columns) {
      if (indexed || found.has(fix) || using === null || !comparesColumn(using, column)) continue;
      const message = `The column ${column} of ${table}, used by the policy "${name}", has no index, so every request scans the whole table.`;
      const about = { check: 'policy_column_unindexed', severity: 'warning', object: `${table}.${column}` } as const;
      found.set(fix, { ...about, message, fix: asStatement(fix) });
    }
  }
  return [...found.values()];
}

/** A policy that computes the caller's identity for each row. */
function describeCallsPerRow(policy: PolicyRow): readonly Finding[] {
  const parts = Object.entries({ using: policy.using, 'with check': policy.check })
    .map(([word, before]) => ({ word, before, after: before === null ? null : wrapCalls(before) }))
    .filter(({ before, after }) => after !== before);
  if (parts.length === 0) return [];
  const message = `The policy "${policy.name}" of ${policy.table} reads the claims for every row. In a sub-select it reads them once.`;
  const changes = parts.map(({ word, after }) => `  ${word} (${portableSql(String(after))})`);
  const fix = [`alter policy ${policy.target}`, ...changes].join('\n');
  const about = { check: 'policy_call_per_row', severity: 'warning', object: policy.table } as const;
  return [{ ...about, message, fix: asStatement(fix) }];
}

/** Columns with content filters but without an index, and indexes that policies make unusable. */
const findUnindexedContents = statementCheck(
  'check/content-indexes.sql',
  ({ name, type, index, method, patterns, policy, roles }) => {
    const about = { severity: 'note', object: String(name) } as const;
    if (index === null) {
      const message = `The ${type} column ${name} has no index, so filters by its contents read the whole table.`;
      return { ...about, check: 'contents_unindexed', message };
    }
    const filters = patterns === true ? 'filters by patterns of' : 'filters by';
    const orders = method === 'btree' && patterns !== true ? ' Orders use the index, cursors do not.' : '';
    const message = `The policy "${policy}" keeps ${filters} ${name} from using the index "${index}" for ${roles}: its operators could reveal hidden rows, so PostgreSQL asks the policy for every row first.${orders} An index on the column that the policy compares helps.`;
    return { ...about, check: 'index_behind_policy', message };
  },
  ({ models, roles }) => [
    JSON.stringify(models.flatMap(contentColumns)),
    [...new Set(models.flatMap(({ model }) => [...model.tables.keys()]))],
    roles,
  ],
);

/** Columns that a role filters by what is in them, as sql/check/content-indexes.sql takes them. */
function contentColumns({ role, model }: CheckScope['models'][number]) {
  return [...model.tables.values()].flatMap((table) => {
    const { extensions } = model.namespaces.find(({ name }) => name === table.namespace)!;
    const isContent = ({ type }: Column) =>
      type?.kind === 'list' || isBinaryJson(type) || (extensions.includes('reads') && isSearchable(type));
    return table.columns
      .filter((column) => column.filterable && isContent(column))
      .map(({ number }) => ({ table: table.oid, number, role }));
  });
}

/** No index has columns of type json. */
function isBinaryJson(type: Column['type']): boolean {
  return isJson(type) && type?.kind === 'scalar' && comparedAs(type.cast).name === 'jsonb';
}

/** All checks of this file. */
export const speedChecks: Checks = [
  [findUnindexedKeys, 'foreign_key_unindexed'],
  [findSlowPolicies, 'policy_column_unindexed', 'policy_call_per_row'],
  [findUnindexedContents, 'contents_unindexed', 'index_behind_policy'],
];

/** One row of sql/check/policies.sql. */
interface PolicyRow {
  readonly name: string;
  readonly table: string;
  readonly target: string;
  readonly using: string | null;
  readonly check: string | null;
  readonly columns: readonly { table: string; column: string; indexed: boolean; fix: string }[];
}
