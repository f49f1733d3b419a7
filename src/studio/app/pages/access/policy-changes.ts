/** The ways to change or drop a policy: for all whom it concerns, or for one role while the others keep it. */
import { quoteName } from '../../../../graphql/catalog/quote-name.ts';
import type { AccessOverview, AccessPolicy, AccessTable } from '../../../../management/access/access-schemas.ts';
import { type AccessRole, isUnderPolicies, printPolicy } from './access-words.ts';
import { unusedName } from './policy-draft.ts';

/** A way. */
export interface PolicyChange {
  /** For whom; null: the role at which one looks is the only one. */
  readonly title: string | null;
  readonly rewrite: string;
  readonly drop: string;
}

/** What is changed, and for whom. */
interface ChangesOf {
  readonly overview: AccessOverview;
  readonly table: AccessTable;
  readonly policy: AccessPolicy;
  readonly role: AccessRole;
  /** Of conditions, with their parentheses. */
  readonly format?: ((condition: string) => string) | undefined;
}

/** The narrowest first. A role that has the policy as a member of another one cannot be taken out. */
export function policyChanges({ overview, table, policy, role, format }: ChangesOf): readonly PolicyChange[] {
  const { roles } = overview;
  const isPublic = policy.roles.includes('public');
  // PostgreSQL has no way to say "all but one".
  const others = isPublic
    ? roles.filter((each) => each !== role && isUnderPolicies(table, each)).map(({ name }) => name)
    : policy.roles.filter((name) => name !== role.name);
  const drop = `drop policy ${quoteName(policy.name)} on ${table.object};`;
  const all = {
    title: titleOf(policy, others, isPublic),
    rewrite: `${drop}\n${printPolicy(table, policy, format)}`,
    drop,
  };
  if (others.length === 0 || !(isPublic || policy.roles.includes(role.name))) return [all];
  const leave = [
    ...(isPublic ? ['-- Add other roles of the database that need the policy.'] : []),
    `alter policy ${quoteName(policy.name)} on ${table.object} to ${others.map(quoteName).join(', ')};`,
  ].join('\n');
  const own = { ...policy, name: unusedName(table, `${policy.name} for ${role.name}`), roles: [role.name] };
  return [
    { title: `For ${role.name} alone`, rewrite: `${leave}\n${printPolicy(table, own, format)}`, drop: leave },
    all,
  ];
}

function titleOf({ roles }: AccessPolicy, others: readonly string[], isPublic: boolean): string | null {
  if (others.length === 0) return isPublic ? 'For every role' : null;
  const list = new Intl.ListFormat('en').format(isPublic ? others : roles);
  return isPublic ? `For every role, also ${list}` : `For ${list}`;
}
