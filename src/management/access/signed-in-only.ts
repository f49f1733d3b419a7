/**
 * Policies that ask for a signed-in user: a role whose callers have none reaches no row by them, although it is concerned.
 * A claim only for conditions of which that is certain, whatever the rows are.
 */
import type { AccessOverview, AccessPolicy, AccessTable } from './access-schemas.ts';
import { bare, isWhole, sqlTokens } from './conditions.ts';

const actions = ['select', 'insert', 'update', 'delete'] as const;

type Action = (typeof actions)[number];

/** The overview, where the rows that the role reaches by such policies alone are none. @param anon The role of callers without a user. */
export function withoutUser(overview: AccessOverview, anon: string): AccessOverview {
  return {
    ...overview,
    tables: overview.tables.map((table) => ({
      ...table,
      rights: table.rights.map((rights) => {
        if (rights.role !== anon) return rights;
        const next = actions.map((action) => [
          action,
          asksForUser({ overview, anon, path: [] }, table, action)
            ? { ...rights[action], rows: 'none', lacks: 'user' }
            : rights[action],
        ]);
        return { ...rights, ...Object.fromEntries(next) };
      }),
    })),
  };
}

interface Search {
  readonly overview: AccessOverview;
  readonly anon: string;
  /** Tables that lead here. */
  readonly path: readonly AccessTable[];
}

function asksForUser({ overview, anon, path }: Search, table: AccessTable, action: Action): boolean {
  const right = table.rights.find(({ role }) => role === anon)?.[action];
  if (right?.policies === undefined || path.includes(table)) return false;
  const permissive = table.policies.filter(
    ({ name, isPermissive }) => isPermissive && right.policies?.includes(name) === true,
  );
  return permissive.every((policy) => {
    const condition = conditionOf(policy, action);
    return (
      condition !== null &&
      isWhole(policy) &&
      conjuncts(condition).some((part) => isOfUser(part) || readsSuch({ overview, anon, path: [...path, table] }, part))
    );
  });
}

function conditionOf({ using, check }: AccessPolicy, action: Action): string | null {
  return action === 'insert' ? (check ?? using) : using;
}

/** The parts of which each has to hold; none where others may do. */
function conjuncts(condition: string): readonly string[] {
  let depth = 0;
  const parts = [''];
  for (const [token] of bare(condition).replaceAll(/\s+/g, ' ').matchAll(sqlTokens)) {
    if (token === ')') depth -= 1;
    if (depth === 0 && /\b(?:OR|CASE|NOT)\b(?! NULL)/.test(token)) return [];
    const [first = '', ...next] = depth === 0 ? token.split(' AND ') : [token];
    parts.push(`${parts.pop()}${first}`, ...next);
    if (token === '(') depth += 1;
  }
  return parts.map((part) => bare(part.trim()));
}

const user = String.raw`(?:SELECT )?(?:auth\.uid|auth\.jwt ->> 'sub'|NULLIFcurrent_setting'request\.jwt\.claims', true, '' ->> 'sub')(?: AS \w+)?`;
const ofUser = new RegExp(String.raw`^(?:[\w."]+ = ${user}|${user} = [\w."]+|${user} IS NOT NULL)$`);

/** Whether a part compares with the user's id, which is null without one. */
function isOfUser(part: string): boolean {
  const plain = part.replaceAll(/[()]|::\w+/g, '').replaceAll(/\s+/g, ' ');
  return ofUser.test(plain.trim());
}

/** Whether a part looks a value up in a table of which the role sees no row for the same reason. */
function readsSuch(search: Search, part: string): boolean {
  const [, object] = /^[\w."]+ (?:IN|= ANY) \( ?SELECT [\w."]+ FROM ([\w."]+)(?: \w+)?\)$/.exec(part) ?? [];
  const table = search.overview.tables.find((each) => each.object === object);
  return table !== undefined && asksForUser(search, table, 'select');
}
