/**
 * The check of `pgreflect check` for tables and views that row security does not protect. A view that is to run with the
 * rights of its callers may change what it says, so the advice names what changes, and the other choices.
 */
import { ignoreFix } from '../graphql/model/comments/comment-fix.ts';
import { commentsOnly, createContext } from '../graphql/model/model-context.ts';
import { loadSqlFile } from '../postgres/system/sql-file.ts';
import { asStatement, type Check, type CheckScope, type Finding, firstOf, remark } from './finding.ts';

interface OpenTable
  extends Readonly<Record<'fix' | 'policy' | 'grants' | 'guarded' | 'depends' | 'invoker', string | null>> {
  readonly oid: string;
  readonly reads: readonly string[] | null;
  readonly asks: readonly string[] | null;
  readonly kind: string;
  readonly name: string;
  readonly why: string;
  readonly revoke: string;
  readonly roles: string;
}

/** Unprotected tables and views, and the roles that reach them. */
export const findOpenTables: Check = async (scope) => {
  const { tx, schemas, roles } = scope;
  const rows = await tx.query(loadSqlFile('roles-open-tables.sql'), [JSON.stringify({ schemas, roles })]);
  return (rows as readonly unknown[] as readonly OpenTable[]).map((row): Finding => {
    const { kind, name, why, roles: reached, fix, policy } = row;
    const about = { severity: 'warning', object: name } as const;
    if (kind === 'v') {
      const message = describeView(row) + whatChanges(row);
      return { ...about, check: 'view_runs_as_owner', message, fix: viewFix(scope, row) };
    }
    const message = `Row security does not protect ${name} (${why}): ${reached} can access every row.`;
    const statement = asStatement(fix);
    const emptied = policy === null ? '' : `\n${remark(policyAdvice, policy)}`;
    return { ...about, check: 'row_security_off', message, fix: statement && statement + emptied };
  });
};

/** A person must choose the policy; without any, the table looks empty to everyone. */
const policyAdvice =
  'From then on, callers see and write no row until a policy allows it. For a start, let them read all rows:';

function describeView({ name, roles, reads, asks }: OpenTable): string {
  const tables = reads === null ? 'it returns' : `of ${firstOf(reads)}`;
  const caller = asks === null ? '' : ` It may depend on its caller: it calls ${firstOf(asks)}.`;
  return `View ${name} runs with its owner's rights: its own query alone decides which rows ${tables} ${roles} can access.${caller}`;
}

/**
 * A person must choose for a view that decides by its caller, that callers could not read any more, or that would return other
 * rows, not only fewer: all statements are remarks then.
 */
function viewFix(scope: CheckScope, row: OpenTable): string {
  const { fix, invoker, grants } = row;
  const needed = grants === null ? [] : grants.split('\n');
  return [
    ...(invoker === null
      ? []
      : [
          fix === null ? remark('To run it with the rights of its callers:', invoker, ...needed) : asStatement(fix),
          ...rowsAfter(row),
        ]),
    remark('To take it away from them:', row.revoke),
    keepView(scope, row),
  ].join('\n');
}

function whatChanges({ depends, guarded, invoker }: OpenTable): string {
  if (depends === null || guarded === null || invoker === null) return '';
  return ` With the rights of its callers it returns other rows and values, not only fewer rows: it has ${depends}, and policies hide rows of ${guarded}.`;
}

function rowsAfter({ depends, guarded }: OpenTable): readonly string[] {
  if (guarded !== null && depends !== null) return [];
  if (guarded !== null) return [`-- It returns the rows that policies of ${guarded} allow its caller.`];
  return depends === null
    ? []
    : [`-- It has ${depends}: once policies hide rows of what it reads, it returns other rows and values.`];
}

function keepView({ catalog, models }: CheckScope, { oid }: OpenTable): string {
  const context = createContext(catalog, commentsOnly, null);
  const fix = ignoreFix(context, catalog.table(oid)!, 'view_runs_as_owner');
  const sentence = 'To keep it, if all that it returns is for them';
  // Of a view that is left out, another finding may change the comment: one statement would undo the other.
  const isExposed = models.some(({ model }) => model.tables.has(oid));
  if (isExposed && fix !== null) return remark(`${sentence}:`, fix);
  return remark(`${sentence}: {"ignore": ["view_runs_as_owner"]} in its comment directive.`);
}
