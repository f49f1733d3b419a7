/** As whom the page shows rows, and what that role sees. */
import { useEffect, useRef, useState } from 'react';
import type { StudioProject } from '../../../routes/studio-project.ts';
import type { ApiError } from '../../shared/api.ts';
import { type Caller, callersOfVisit, roleOf } from '../../shared/caller.ts';
import { type RoleSchema, useRoleSchema } from '../../shared/role-schema.ts';
import { goTo } from '../../shared/router.ts';
import { type AskedPlace, placeOf } from './data-place.ts';

/** The roles that it may begin as: the first sees most. */
const roles = ['service', 'authenticated', 'anon'] as const;

const storageName = (ref: string): string => `pgreflect:data-role:${ref}`;

/** Keeps the role for the next visit: of a user, the role of users. */
export function remember(ref: string, { kind }: Caller): void {
  localStorage.setItem(storageName(ref), kind === 'user' ? 'authenticated' : kind);
}

/** Whom the page begins as; those behind the first, where that one sees nothing. None of them may do more than the one before. */
function beginningOf(ref: string): readonly [Caller, ...Caller[]] {
  const last = callersOfVisit.data.get();
  if (last?.kind === 'user') return [last];
  const kept = last?.kind ?? localStorage.getItem(storageName(ref));
  const known = roles.find((kind) => kind === kept);
  const [first = 'service', ...others] = roles.slice(known === undefined ? 0 : roles.indexOf(known));
  return [{ kind: first }, ...others.map((kind) => ({ kind }))];
}

function sees({ tables }: RoleSchema, table: string | null): boolean {
  return table === null ? tables.length > 0 : tables.some(({ name }) => name === table);
}

/** Hook: the caller of the address, and what the role sees: null while it is read. An address without a caller gets one. */
export function useSeenAs(
  asked: AskedPlace,
  project: StudioProject,
): { readonly caller: Caller; readonly schema: RoleSchema | null; readonly problem: ApiError | null } {
  const callers = asked.caller === null ? beginningOf(project.ref) : ([asked.caller] as const);
  const key = JSON.stringify([asked.table, callers]);
  const [blind, setBlind] = useState({ key, count: 0 });
  const count = blind.key === key ? blind.count : 0;
  const caller = callers[count] ?? callers[0];
  const { value: schema, problem } = useRoleSchema(roleOf(caller, project.roles));
  const isChosen = asked.caller !== null;
  const hasNext = !isChosen && count < callers.length;
  // Requests may not have the role, or the database lacks it.
  const isRefused = hasNext && [400, 404].includes(problem?.status ?? 0);
  // What was said of the role before stays until there is an answer.
  const refusal = useRef<ApiError | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a caller equal to the last one is a new object
  useEffect(() => {
    if (isChosen) callersOfVisit.data.set(caller);
    else if (schema === null) {
      if (!isRefused || problem === refusal.current) return;
      refusal.current = problem;
      setBlind({ key, count: count + 1 });
    } else if (hasNext && !sees(schema, asked.table)) setBlind({ key, count: count + 1 });
    else goTo(placeOf({ ...asked, caller }), { replace: true, asks: false });
  }, [key, count, isChosen, schema, problem]);
  return { caller, schema: isChosen ? schema : null, problem: isRefused ? null : problem };
}
