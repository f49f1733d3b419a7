/**
 * The check of `pgreflect check` for grants that exceed what the API or its policies use. Each can be taken back, or get
 * the policies that it lacks: those are derived from the policy for reading, or left for a person to write.
 */
import { quoteName } from '../graphql/catalog/quote-name.ts';
import { loadSqlFile } from '../postgres/system/sql-file.ts';
import { portableSql } from '../shared/portable-sql.ts';
import { asStatement, type Check, type Finding, type FindingKind, remark } from './finding.ts';
import { comparesCaller, wrapCalls } from './policy-expression.ts';

/** One row of sql/check/grants.sql. */
interface WideGrant {
  readonly name: string;
  readonly kind: 'unguarded' | 'beyond_rows' | 'no_policy' | 'without_policy' | 'everybody';
  readonly privileges: string;
  readonly grantees: string;
  readonly visitors: boolean;
  readonly fix: string | null;
  readonly first: string;
  readonly policies: readonly string[];
  readonly writers: string | null;
  readonly reading: readonly { readonly using: string; readonly columns: readonly string[] }[];
}

/** What is wrong with a grant, after its words. */
const grantKinds: Readonly<
  Record<Exclude<WideGrant['kind'], 'no_policy'>, { readonly check: FindingKind; readonly why: string }>
> = {
  unguarded: { check: 'write_unguarded', why: 'it has no row security, so any row can be written' },
  beyond_rows: {
    check: 'grant_beyond_rows',
    why: 'row security does not cover these privileges, and the API does not use them',
  },
  without_policy: { check: 'grant_without_policy', why: 'no policy allows it for any row' },
  everybody: { check: 'grant_to_everybody', why: 'public includes every login of this server, not only the API' },
};

const hasAuthFunctions = `select exists (
  select from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid operator(pg_catalog.=) p.pronamespace
  where n.nspname operator(pg_catalog.=) 'auth' and p.proname operator(pg_catalog.=) 'uid') as there`;

/** Grants that exceed what the API or its policies use. */
export const findWideGrants: Check = async ({ tx, schemas, roles, serviceRole }) => {
  const rows = await tx.query(loadSqlFile('check/grants.sql'), [schemas, roles]);
  const [{ there: hasAuth } = { there: false }] = await tx.query(hasAuthFunctions);
  return (rows as readonly unknown[] as readonly WideGrant[]).map((row): Finding => {
    const { name: object, kind, grantees, privileges, visitors, writers } = row;
    // Row security was enabled, but which rows to allow is for the owner to decide.
    if (kind === 'no_policy') {
      const message = `${object} has no policy, so the grant of ${privileges} to ${grantees} reaches no row. Create a policy for each role that may see rows.`;
      return {
        check: 'policy_missing',
        severity: 'note',
        object,
        message,
        fix: proposePolicies(row, hasAuth === true),
      };
    }
    const { check, why } = grantKinds[kind];
    const choice =
      kind === 'everybody'
        ? [remark('For roles that should keep it:', grantTo(row, [...roles, serviceRole]))]
        : kind === 'beyond_rows'
          ? []
          : [proposePolicies(row, hasAuth === true)];
    const revoke =
      row.fix === null || writers === null
        ? asStatement(row.fix)
        : remark(
            `To take it from them. These write it as their caller, who cannot run them then: ${writers}.`,
            row.fix,
          );
    return {
      check,
      severity: kind === 'unguarded' && visitors ? 'error' : 'warning',
      object,
      message: `The grant of ${privileges} on ${object} to ${grantees} is too wide: ${why}.`,
      fix: [revoke, ...choice].join('\n'),
    };
  });
};

function grantTo({ name, privileges }: WideGrant, roles: readonly string[]): string {
  return `grant ${privileges} on ${name} to ${roles.map(quoteName).join(', ')}`;
}

/** Policies for the granted commands; a person must choose the rows where no policy for reading tells whose they are. */
function proposePolicies(
  { name, kind, privileges, grantees, first, policies, reading }: WideGrant,
  hasAuth: boolean,
): string {
  const taken = new Set(policies);
  const [read, ...others] = reading;
  const own = read !== undefined && others.length === 0 && comparesCaller(read.using, read.columns) ? read.using : null;
  const rows = own === null ? '(false)' : portableSql(wrapCalls(own));
  const statements = privileges.split(', ').map((command) => {
    const policy = freeName(`${command}_by_${first}`, taken);
    const clause = command === 'insert' ? 'with check' : 'using';
    return `create policy ${quoteName(policy)} on ${name} for ${command} to ${grantees} ${clause} ${rows}`;
  });
  const sentence =
    own === null
      ? `To allow some rows, write their condition in place of false, such as owner_id = (select auth.uid())${hasAuth ? '' : ', for which run pgreflect init --auth'}:`
      : 'To let them write the rows that they may read:';
  const enabling = kind === 'unguarded' ? [`alter table ${name} enable row level security`] : [];
  return remark(sentence, ...enabling, ...statements);
}

/** The name, or with a number if it is taken. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name}_${number}`;
    if (!taken.has(candidate)) return candidate;
  }
}
