/** The users of a list, page after page. */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { ApiError } from '../../shared/api.ts';
import { useAnswer, useTask } from '../../shared/requests.ts';
import { findUsers, type StudioUser, type UserPage } from '../../shared/users.ts';
import { type ListPlace, placeOf } from './place-of.ts';

const pageSize = 100;
/** The API's own limit. */
const maxPageSize = 1000;

/** What is there of a list. */
export interface UserList {
  /** Null before the first answer; those of the list before until the next answer. */
  readonly users: readonly StudioUser[] | null;
  readonly total: number | null;
  readonly isEstimate: boolean;
  readonly hasMore: boolean;
  /** The users are those of another search. */
  readonly isSearching: boolean;
  readonly problem: ApiError | null;
  readonly readMore: () => void;
  readonly readAgain: () => void;
}

interface Part extends UserPage {
  readonly key: string;
}

/** Hook: the list. */
export function useUserList(place: ListPlace, isAllowed: boolean): UserList {
  const key = placeOf(place, null);
  // After a change, as many are read as were there, so that the list does not jump.
  const shown = useRef({ key, count: 0 });
  const { value, problem, readAgain } = useAnswer<Part>(isAllowed ? key : null, async (signal) => {
    const size = shown.current.key === key ? Math.min(Math.max(shown.current.count, pageSize), maxPageSize) : pageSize;
    return { ...(await fillPage(place, '', { size, signal })), key };
  });
  const [more, setMore] = useState<{ readonly first: Part; readonly page: UserPage } | null>(null);
  const task = useTask();
  const page = more !== null && more.first === value ? more.page : value;
  useEffect(() => {
    if (value !== null && page !== null) shown.current = { key: value.key, count: page.users.length };
  }, [value, page]);
  const cursor = page?.next_cursor ?? null;
  const { run, isBusy } = task;
  const latest = useRef({ value, page, place, isBusy });
  latest.current = { value, page, place, isBusy };
  const readMore = useCallback((): void => {
    const { value: first, page: now, place: of, isBusy: isReading } = latest.current;
    if (first === null || now === null || cursor === null || isReading) return;
    void run(async () => {
      const next = await fillPage(of, cursor, { size: pageSize });
      setMore({ first, page: { ...next, users: [...now.users, ...next.users] } });
    });
  }, [cursor, run]);
  return {
    users: page?.users ?? null,
    total: value?.total ?? null,
    isEstimate: value?.is_total_estimated ?? false,
    hasMore: cursor !== null,
    isSearching: value !== null && value.key !== key,
    problem: problem ?? task.problem,
    readMore,
    readAgain,
  };
}

/** A search examines a limited number of users at a time, and may find none among them: then it goes on. */
async function fillPage(
  { search, state, provider, order }: ListPlace,
  start: string,
  { size, signal }: { readonly size: number; readonly signal?: AbortSignal },
): Promise<UserPage> {
  const given = Object.entries({ search, state, provider, order, per_page: String(size) });
  const query = Object.fromEntries(given.filter(([, text]) => text !== ''));
  let page = await findUsers({ ...query, ...(start !== '' && { cursor: start }) }, signal);
  while (page.users.length === 0 && page.next_cursor !== null) {
    const next = await findUsers({ ...query, cursor: page.next_cursor }, signal);
    page = { ...page, users: next.users, next_cursor: next.next_cursor };
  }
  return page;
}
