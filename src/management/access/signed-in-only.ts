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
  const { tables } = overview;
  // Round by round, not by search: where policies of many tables read each other, there are more paths than anybody can wait for.
  const unseen = new Set<string>();
  const demands = new Map<string, Demand>();
  const asks = (table: AccessTable, action: Action) => asksForUser(table, action, { anon, unseen, demands });
  for (let before = -1; before < unseen.size; ) {
    before = unseen.size;
    for (const table of tables) if (asks(table, 'select')) unseen.add(table.object);
  }
  return {
    ...overview,
    tables: tables.map((table) => ({
      ...table,
      rights: table.rights.map((rights) => {
        if (rights.role !== anon) return rights;
        const next = actions.map((action) => [
          action,
          asks(table, action) ? { ...rights[action], rows: 'none', lacks: 'user' } : rights[action],
        ]);
        return { ...rights, ...Object.fromEntries(next) };
      }),
    })),
  };
}

/** What a condition asks for, whatever the rows are. */
interface Demand {
  /** A user. */
  readonly isOfUser: boolean;
  /** Rows of these tables, as SQL writes them. */
  readonly tables: readonly string[];
}

interface Known {
  readonly anon: string;
  /** Tables of which the role sees no row for the same reason. */
  readonly unseen: ReadonlySet<string>;
  /** By condition: each is read once. */
  readonly demands: Map<string, Demand>;
}

function asksForUser(table: AccessTable, action: Action, { anon, unseen, demands }: Known): boolean {
  const right = table.rights.find(({ role }) => role === anon)?.[action];
  if (right?.policies === undefined) return false;
  const permissive = table.policies.filter(
    ({ name, isPermissive }) => isPermissive && right.policies?.includes(name) === true,
  );
  return permissive.every((policy) => {
    const condition = conditionOf(policy, action);
    if (condition === null || !isWhole(policy)) return false;
    const demand = demands.get(condition) ?? demandOf(condition);
    demands.set(condition, demand);
    return demand.isOfUser || demand.tables.some((each) => unseen.has(each));
  });
}

function demandOf(condition: string): Demand {
  const parts = conjuncts(condition);
  return { isOfUser: parts.some(isOfUser), tables: parts.flatMap((part) => tableRead(part) ?? []) };
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

/** The table in which a part looks a value up, as SQL writes it. */
function tableRead(part: string): string | undefined {
  return /^[\w."]+ (?:IN|= ANY) \( ?SELECT [\w."]+ FROM ([\w."]+)(?: \w+)?\)$/.exec(part)?.[1];
}
