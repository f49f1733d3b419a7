/** The rows of a view: loaded page after page by the cursor, and kept until another view takes their place. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiError, outage } from '../../shared/api.ts';
import type { Caller } from '../../shared/caller.ts';
import { runAs, subscribeAs } from '../../shared/graphql.ts';
import type { RoleTable } from '../../shared/role-schema.ts';
import { session } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';
import { countOperation, pageOperation, type View } from './read-operations.ts';
import { keyOf, type Row } from './row-key.ts';

/** The rows so far. */
export interface Rows {
  readonly rows: readonly Row[];
  /** How many there are with those not loaded; null: not known. */
  readonly total: number | null;
  readonly isLoading: boolean;
  /** The last row is loaded. */
  readonly isDone: boolean;
  readonly problem: ApiError | null;
  /** Loads the next rows, unless that is under way. */
  readonly loadMore: () => void;
  readonly readAgain: () => void;
  /** What writes have done is shown without another reading: new rows stand first. */
  readonly insert: (rows: readonly Row[]) => void;
  readonly replace: (key: string, row: Row) => void;
  readonly remove: (keys: ReadonlySet<string>) => void;
}

/** A page of rows, as the API answers. */
export interface RowPage {
  readonly edges: readonly { readonly node: Row }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** So many rows are loaded at first, in as many pages as the table makes of them. */
const atOnce = 100;
/** Whoever has scrolled far goes on: more are loaded at a time, but not in more pages than this. */
const farAtOnce = 2000;
const farPages = 10;

interface Loaded {
  /** Of the view that they are of. */
  readonly key: string;
  readonly rows: readonly Row[];
  readonly after: string | null;
  readonly isDone: boolean;
  readonly isLoading: boolean;
  readonly problem: ApiError | null;
  readonly total: number | null;
}

const nothing: Omit<Loaded, 'key'> = {
  rows: [],
  after: null,
  isDone: false,
  isLoading: true,
  problem: null,
  total: null,
};

/** Hook: the rows. @param table Null: not known yet. @param isLive Shows the first page alone, as it changes. */
export function useRows(table: RoleTable | null, caller: Caller, view: View, isLive: boolean): Rows {
  const [reading, setReading] = useState(0);
  const isThere = useStore(outage) === null;
  const { kind } = useStore(session);
  const key = JSON.stringify([table?.role, table?.name, caller, view, isLive]);
  const [state, setLoaded] = useState<Loaded>({ ...nothing, key });
  // What another caller saw must not stand here for a moment.
  const loaded = state.key === key ? state : { ...nothing, key };
  const latest = useRef({ table, caller, view, loaded });
  latest.current = { table, caller, view, loaded };
  const run = useRef({ leaving: new AbortController(), keys: new Set<string>() });

  const load = useCallback(async (from: Loaded, signal: AbortSignal): Promise<void> => {
    const { table: of, caller: as, view: shown } = latest.current;
    if (of === null || of.collection === null) return;
    const { keys } = run.current;
    let { after } = from;
    const wanted = Math.max(atOnce, Math.min(from.rows.length / 2, farAtOnce, farPages * of.maxRows));
    setLoaded((now) => ({ ...now, isLoading: true, problem: null }));
    try {
      for (let isDone = false, gained = 0; !isDone && gained < wanted; ) {
        const page = { first: Math.min(Math.ceil(wanted - gained), of.maxRows), ...(after !== null && { after }) };
        const data = await runAs<Readonly<Record<string, RowPage>>>(as, pageOperation(of, shown, page), signal);
        if (signal.aborted) return;
        const { edges, pageInfo } = data[of.collection]!;
        // A row that moved meanwhile may come twice.
        const fresh = edges.map(({ node }) => node).filter((row) => !keys.has(keyOf(of, row)));
        for (const row of fresh) keys.add(keyOf(of, row));
        after = pageInfo.endCursor;
        isDone = !pageInfo.hasNextPage;
        gained += edges.length;
        const isLoading = !isDone && gained < wanted;
        setLoaded((now) => ({ ...now, rows: [...now.rows, ...fresh], after, isDone, isLoading }));
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      setLoaded((now) => ({ ...now, isLoading: false, problem: error }));
    }
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another view, and read again on demand
  useEffect(() => {
    if (!isThere || kind !== 'open' || table === null) return;
    const leaving = new AbortController();
    run.current = { leaving, keys: new Set() };
    const start = { ...nothing, key };
    setLoaded(start);
    if (isLive) void follow(table, caller, view, leaving.signal, setLoaded);
    else void load(start, leaving.signal);
    if (table.totalCount) void countRows(table, caller, view, leaving.signal).then(setTotal);
    function setTotal(total: number | null): void {
      if (!leaving.signal.aborted) setLoaded((now) => ({ ...now, total }));
    }
    return () => leaving.abort();
  }, [key, reading, isThere, kind]);

  const loadMore = useCallback(() => {
    const now = latest.current.loaded;
    if (!now.isLoading && !now.isDone && now.problem === null) void load(now, run.current.leaving.signal);
  }, [load]);
  const readAgain = useCallback(() => setReading((count) => count + 1), []);
  const change = (make: (rows: readonly Row[], of: RoleTable) => readonly Row[]): void => {
    const { table: of } = latest.current;
    if (of === null) return;
    setLoaded((now) => {
      const rows = make(now.rows, of);
      for (const row of rows.length > now.rows.length ? rows : []) run.current.keys.add(keyOf(of, row));
      return { ...now, rows, total: now.total === null ? null : now.total + rows.length - now.rows.length };
    });
  };
  const insert = (fresh: readonly Row[]): void => change((rows) => [...fresh, ...rows]);
  const replace = (old: string, row: Row): void =>
    change((rows, of) => rows.map((each) => (keyOf(of, each) === old ? row : each)));
  const remove = (keys: ReadonlySet<string>): void =>
    change((rows, of) => rows.filter((each) => !keys.has(keyOf(of, each))));
  return { ...loaded, loadMore, readAgain, insert, replace, remove };
}

/** Takes the first page from a subscription, until it ends. */
async function follow(
  table: RoleTable,
  caller: Caller,
  view: View,
  signal: AbortSignal,
  setLoaded: (make: (now: Loaded) => Loaded) => void,
): Promise<void> {
  const page = { first: Math.min(atOnce, table.maxRows) };
  try {
    const answers = subscribeAs<Readonly<Record<string, RowPage>>>(
      caller,
      pageOperation(table, view, page, 'subscription'),
      signal,
    );
    for await (const data of answers) {
      const rows = data[table.collection!]!.edges.map(({ node }) => node);
      setLoaded((now) => ({ ...now, rows, isDone: true, isLoading: false, problem: null }));
    }
    if (!signal.aborted) throw new ApiError(410, 'ended', 'The live query has ended.');
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof ApiError)) throw error;
    setLoaded((now) => ({ ...now, isLoading: false, problem: error }));
  }
}

/** The rows are there without their number, too. */
async function countRows(table: RoleTable, caller: Caller, view: View, signal: AbortSignal): Promise<number | null> {
  type Counted = Readonly<Record<string, { readonly totalCount: number }>>;
  const data = await runAs<Counted>(caller, countOperation(table, view), signal).catch(() => null);
  return data?.[table.collection ?? '']?.totalCount ?? null;
}
