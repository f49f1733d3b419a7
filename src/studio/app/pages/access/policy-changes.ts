/** The ways to change or drop a policy: for all whom it concerns, or for one role while the others keep it. */
import { quoteName } from '../../../../graphql/catalog/quote-name.ts';
import type { AccessPolicy, AccessTable } from '../../../../management/access/access-schemas.ts';
import { onOneLine } from '../../../../shared/one-line.ts';
import { type Action, isUnderPolicies, list, printPolicy } from './access-words.ts';
import { isOwn, leansOn, ownRowsFor } from './own-rows.ts';
import { comparedColumn, type DraftOf, draftChange, indexChange, nameOf, unusedName } from './policy-draft.ts';
import { tableChange } from './privilege-changes.ts';
import type { SqlChange } from './sql-changes.ts';

/** A way. */
export interface PolicyChange {
  /** For whom; null: the role at which one looks is the only one. */
  readonly title: string | null;
  readonly concernsOthers: boolean;
  readonly rewrite: SqlChange;
  /** With the condition for own rows; null: there is none, or the policy has it. */
  readonly own: SqlChange | null;
  readonly drop: SqlChange;
}

/** What a change of a policy is collected under. */
export function policyKey({ object }: AccessTable, policy: string): string {
  return `policy ${policy} on ${object}`;
}

/** The narrowest first. A role that has the policy as a member of another one cannot be taken out. */
export function policyChanges(of: DraftOf, policy: AccessPolicy): readonly PolicyChange[] {
  const { overview, table, role } = of;
  const { roles } = overview;
  const isPublic = policy.roles.includes('public');
  // PostgreSQL has no way to say "all but one".
  const others = isPublic
    ? roles.filter((each) => each !== role && isUnderPolicies(table, each)).map(({ name }) => name)
    : policy.roles.filter((name) => name !== role.name);
  const drop = `drop policy ${quoteName(policy.name)} on ${table.object};`;
  const all = wayOf(of, policy, {
    title: titleOf(policy, others, isPublic),
    concernsOthers: others.length > 0,
    leave: drop,
  });
  if (others.length === 0 || !(isPublic || policy.roles.includes(role.name))) return [all];
  const unnamed = isPublic ? table.otherGrantees : [];
  const leave = [
    ...(unnamed.length === 0
      ? []
      : [
          `-- Also granted on the table: ${onOneLine(unnamed.map(quoteName).join(', '))}. Add those that need the policy.`,
        ]),
    `alter policy ${quoteName(policy.name)} on ${table.object} to ${others.map(quoteName).join(', ')};`,
  ].join('\n');
  const alone = { others, drop };
  return [wayOf(of, policy, { title: `For ${role.name} alone`, concernsOthers: false, leave, alone }), all];
}

interface Whom extends Pick<PolicyChange, 'title' | 'concernsOthers'> {
  /** Takes the policy away. */
  readonly leave: string;
  /** Others keep the policy; `drop` takes it from them, too. */
  readonly alone?: { readonly others: readonly string[]; readonly drop: string };
}

function wayOf(of: DraftOf, policy: AccessPolicy, { alone, leave, ...whom }: Whom): PolicyChange {
  const { overview, table, role, format } = of;
  const key = policyKey(table, policy.name);
  const roles = alone === undefined ? policy.roles : [role.name];
  /** @param created The policy in its place. */
  const change = (words: string, created: readonly string[]): SqlChange => ({
    key,
    sql: [leave, ...created].join('\n'),
    words,
    ...(alone !== undefined && {
      shared: {
        policy: policy.name,
        role: role.name,
        others: alone.others,
        rows: policy.isPermissive ? (isOpen(policy) ? 'all rows' : 'the same rows') : null,
        isKept: true,
        otherwise: [alone.drop, ...created].join('\n'),
      },
    }),
  });
  /** The name says what it does now. */
  const print = (wanted: AccessPolicy, rows: string): string => {
    const dropped = alone === undefined ? policy : null;
    const name =
      wanted === dropped ? policy.name : unusedName(of, nameOf(roles, policy.command, rows), { key, dropped });
    return printPolicy(table, { ...wanted, name, roles }, format);
  };
  const condition = policy.isPermissive && !isOwn(of, policy) ? ownRowsFor(of) : null;
  const clauses = policy.command === 'insert' ? { using: null, check: condition } : { using: condition, check: null };
  return {
    ...whom,
    rewrite: change(`“${policy.name}” rewritten`, [print(policy, rowsOf(of, policy))]),
    own:
      condition === null
        ? null
        : {
            ...change(ownWords(table, condition), [print({ ...policy, ...clauses }, 'own')]),
            leansOn: leansOn(overview, condition),
          },
    drop: change(`“${policy.name}” dropped`, []),
  };
}

function ownWords(table: AccessTable, condition: string): string {
  const column = comparedColumn(table, condition);
  return column === null ? 'own rows' : `own rows, by ${column}`;
}

function rowsOf(of: DraftOf, policy: AccessPolicy): string {
  if (!policy.isPermissive) return 'only some';
  if (isOwn(of, policy)) return 'own';
  return isOpen(policy) ? 'all' : 'some';
}

function isOpen({ using, check }: AccessPolicy): boolean {
  return [using, check].every((condition) => condition === null || condition === 'true');
}

/** What leaves a role its own rows alone; null: it has no others, or other roles or actions would lose theirs. */
export function ownRowsOnly(of: DraftOf, action: Action): readonly SqlChange[] | null {
  const { table, role } = of;
  if (!table.rowSecurity) return enableForOwnRows(of, action);
  const right = table.rights.find((each) => each.role === role.name)?.[action];
  const deciding = table.policies.filter(
    ({ isPermissive, name }) => isPermissive && right?.policies?.includes(name) === true,
  );
  const others = deciding.filter((policy) => !isOwn(of, policy));
  const isThere = others.length < deciding.length;
  const changes = others.map((policy, index) => {
    const [narrowest] = policyChanges(of, policy);
    if (narrowest === undefined || narrowest.concernsOthers) return null;
    if (index === 0 && !isThere) return narrowest.own;
    return policy.command === action ? narrowest.drop : null;
  });
  const found = changes.filter((change) => change !== null);
  if (found.length === 0 || found.length < changes.length) return null;
  return isThere ? found : [...found, ...indexFor(of, action)];
}

/** Without it, each request would look through the whole table. */
function indexFor(of: DraftOf, action: Action): readonly SqlChange[] {
  const condition = action === 'insert' ? null : ownRowsFor(of);
  const change = indexChange(of.table, condition && comparedColumn(of.table, condition));
  return change === null ? [] : [change];
}

/** Without row security, a policy has no effect. Those that are there would begin to decide, too. */
function enableForOwnRows(of: DraftOf, action: Action): readonly SqlChange[] | null {
  const { table, role } = of;
  const change = tableChange(table);
  if (change === null || table.runsAs !== null || table.policies.length > 0 || role.bypassesRowSecurity) return null;
  return ownRowsFor(of) === null ? null : [change, draftChange(of, action), ...indexFor(of, action)];
}

function titleOf({ roles }: AccessPolicy, others: readonly string[], isPublic: boolean): string | null {
  if (others.length === 0) return isPublic ? 'For every role' : null;
  return isPublic ? `For every role, also ${list.format(others)}` : `For ${list.format(roles)}`;
}
