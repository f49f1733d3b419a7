/** What to know of a collected change before it runs: what else decides beside it, and the way out. */
import type { AccessOverview } from '../../../../management/access/access-schemas.ts';
import { actions, actionWords, explainKey, list, reachesRows, sayUnreadKey } from './access-words.ts';
import { type PolicyChange, policyChanges, policyKey } from './policy-changes.ts';
import { draftKey, hasPolicyFor } from './policy-draft.ts';
import { addKey, privilegeKey, tableChange } from './privilege-changes.ts';
import { type SqlChange, turned } from './sql-changes.ts';

/** What to know. */
export interface ChangeNotice {
  readonly kind: 'warning' | 'hint';
  readonly text: string;
  /** Other changes that make it right. */
  readonly ways: readonly { readonly title: string; readonly change: SqlChange }[];
}

/** @param anon The role of callers without a user. */
export function noticesOf(
  overview: AccessOverview,
  anon: string,
  change: SqlChange,
  changes: readonly SqlChange[],
): readonly ChangeNotice[] {
  if (change.isEdited) return [];
  return [
    ...leaning(change),
    ...building(change),
    ...keeping(overview, change, changes),
    ...unordered(overview, change),
    ...addition(overview, anon, change, changes),
    ...enabling(overview, change, changes),
  ];
}

function leaning({ leansOn = [] }: SqlChange): readonly ChangeNotice[] {
  if (leansOn.length === 0) return [];
  const text = `Own rows, because the row security of ${list.format(leansOn)} decides what the condition finds there.`;
  return [{ kind: 'hint', text, ways: [] }];
}

function building({ isOptional = false }: SqlChange): readonly ChangeNotice[] {
  if (!isOptional) return [];
  const text =
    'Finds own rows fast. Writes wait while it is built: for a large table, remove it here and run it by itself with “concurrently”.';
  return [{ kind: 'hint', text, ways: [] }];
}

/** Whoever keeps a policy and loses the grant has it again with the next grant. */
function keeping(
  { tables, roles }: AccessOverview,
  change: SqlChange,
  changes: readonly SqlChange[],
): readonly ChangeNotice[] {
  const { key, shared } = change;
  const table = tables.find((each) => policyKey(each, shared?.policy ?? '') === key);
  if (shared === undefined || table === undefined || shared.rows === null || !shared.isKept) return [];
  const revoked = roles.filter(
    (role) =>
      shared.others.includes(role.name) &&
      actions.some((action) =>
        changes.some((each) => each.key === privilegeKey(table, role, action) && each.columns?.length === 0),
      ),
  );
  if (revoked.length === 0) return [];
  const names = list.format(revoked.map(({ name }) => name));
  const text = `“${shared.policy}” stays for ${names}: the next grant opens ${shared.rows} again.`;
  return [{ kind: 'warning', text, ways: [{ title: `Drop “${shared.policy}”`, change: turned(change) }] }];
}

/** Columns without the key, by which rows are ordered. */
function unordered({ tables, roles }: AccessOverview, { key, columns = [] }: SqlChange): readonly ChangeNotice[] {
  return tables.flatMap((table) => {
    const unread = sayUnreadKey(table, columns);
    const role = unread === null ? undefined : roles.find((each) => privilegeKey(table, each, 'select') === key);
    const right = table.rights.find((each) => each.role === role?.name)?.select;
    if (unread === null || role === undefined || right === undefined) return [];
    const change = addKey(table, role, right, columns);
    const ways = change === null ? [] : [{ title: `Add ${unread}`, change }];
    return [{ kind: 'warning', text: explainKey(unread), ways }];
  });
}

/** Other permissive policies let their rows pass, whatever the new one says. */
function addition(
  overview: AccessOverview,
  anon: string,
  { adds }: SqlChange,
  changes: readonly SqlChange[],
): readonly ChangeNotice[] {
  const table = overview.tables.find(({ object }) => object === adds?.object);
  const role = overview.roles.find(({ name }) => name === adds?.role);
  if (adds === undefined || table === undefined || role === undefined) return [];
  const right = table.rights.find((each) => each.role === role.name)?.[adds.action];
  const others = table.policies.filter(
    ({ name, isPermissive }) =>
      isPermissive &&
      right?.policies?.includes(name) === true &&
      !changes.some(({ key }) => key === policyKey(table, name)),
  );
  if (others.length === 0) return [];
  const names = list.format(others.map(({ name }) => `“${name}”`));
  const does = `${others.length === 1 ? 'lets' : 'let'} ${role.name} ${actionWords[adds.action]}`;
  const isOpen = others.some(({ using, check }) => [using, check].every((each) => each === null || each === 'true'));
  const text = isOpen
    ? `This changes nothing: ${names} ${does} all rows already.`
    : `This only adds rows: ${names} ${does} others already.`;
  const ways = others.flatMap((policy) => {
    const [narrowest] = policyChanges({ overview, table, role, anon, changes }, policy);
    return narrowest === undefined ? [] : [{ title: dropTitle(policy.name, narrowest), change: narrowest.drop }];
  });
  const beyond = others.some(({ command }) => command === 'all') ? ' It decides for every action.' : '';
  return [{ kind: 'warning', text: `${text}${beyond}`, ways }];
}

function dropTitle(name: string, { title }: PolicyChange): string {
  return `Drop “${name}” ${title === null ? '' : title[0]!.toLowerCase() + title.slice(1)}`.trim();
}

/** Row security that is switched on concerns every role at once. */
function enabling(
  overview: AccessOverview,
  { key }: SqlChange,
  changes: readonly SqlChange[],
): readonly ChangeNotice[] {
  const table = overview.tables.find((each) => tableChange(each)?.key === key);
  if (table === undefined || table.rowSecurity || table.runsAs !== null) return [];
  const lost = overview.roles.flatMap((role) => {
    if (role.bypassesRowSecurity) return [];
    const right = table.rights.find((each) => each.role === role.name);
    const words = actions.filter(
      (action) =>
        (right === undefined || reachesRows(right[action])) &&
        !hasPolicyFor(table, role.name, action) &&
        !changes.some((each) => each.key === draftKey(table, role, action)),
    );
    return words.length === 0 ? [] : [`${role.name} (${words.map((action) => actionWords[action]).join(', ')})`];
  });
  if (lost.length === 0) return [];
  return [{ kind: 'warning', text: `Without a policy, no rows are left to ${list.format(lost)}.`, ways: [] }];
}
