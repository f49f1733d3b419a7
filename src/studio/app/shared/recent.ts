/** The last requests and the last hour, read again and again while somebody looks. */
import { useEffect } from 'react';
import type { RecentRequest, RecentRequests, Usage } from '../../../server/recent/recent-schemas.ts';
import { type Answer, useAnswer } from './requests.ts';
import { askProject } from './session.ts';

/** Reads again after each answer or failure but that of the token, as long as somebody sees the tab. */
export function useAgain({ value, problem, readAgain }: Answer<unknown>, afterMs: number): void {
  useEffect(() => {
    if ((value === null && problem === null) || problem?.status === 401) return;
    const look = () => !document.hidden && readAgain();
    const timer = setTimeout(look, afterMs);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [value, problem, readAgain, afterMs]);
}

/** Hook: what happened in each of the last 60 minutes. */
export function useUsage(): Answer<Usage> {
  const answer = useAnswer('usage', async (signal) => (await askProject<Usage>('usage', { signal })).body);
  useAgain(answer, 10_000);
  return answer;
}

/** The requests that pass a filter. */
export interface FoundRequests extends RecentRequests {
  /** The filter. */
  readonly query: string;
}

/** Hook: the last requests. @param query A filter of the management API. */
export function useRequests(query: string): Answer<FoundRequests> {
  const answer = useAnswer(`requests ${query}`, async (signal) => ({
    ...(await askProject<RecentRequests>(`requests?${query}&limit=500`, { signal })).body,
    query,
  }));
  useAgain(answer, 2000);
  return answer;
}

/** Hook: the request with an id, of its own, its trace or an error; null: it is not kept any more. */
export function useRequest(id: string): Answer<{ readonly request: RecentRequest | null }> {
  return useAnswer(`request ${id}`, async (signal) => {
    const { requests } = (await askProject<RecentRequests>(`requests?id=${encodeURIComponent(id)}`, { signal })).body;
    const isOf = ({ traceId, errorIds }: RecentRequest) => traceId === id || errorIds.includes(id);
    return { request: requests.find((request) => request.id === id) ?? requests.find(isOf) ?? null };
  });
}

/** Whether something went wrong with a request. */
export function hasFailed({ status, codes, aborted }: RecentRequest): boolean {
  return aborted || status >= 400 || codes.length > 0;
}

/** Milliseconds as people read them. */
export function durationText(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}
