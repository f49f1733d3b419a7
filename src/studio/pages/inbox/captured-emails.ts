/**
 * The kept emails, asked for again and again: all of them first, then what is newer.
 */
import { useEffect, useState } from 'react';
import { ApiError, ask, bearer } from '../../shared/api.ts';
import { session } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';

/** A kept email. */
export interface CapturedEmail {
  /** Grows with time. */
  readonly id: number;
  readonly capturedAt: string;
  readonly kind: string;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly html: string;
  readonly text: string;
  readonly source: string;
}

/** The inbox, or why it cannot be read. */
export interface InboxState {
  /** Newest first; null until they were read. */
  readonly emails: readonly CapturedEmail[] | null;
  readonly refusal: ApiError | null;
}

/** Pause between two looks in milliseconds. */
const pauseMs = 1000;

/** As many as the server keeps. */
const maxEmails = 200;

/** @param to Only emails to this address; null: all. */
export function useInbox(to: string | null): InboxState {
  const [state, setState] = useState<InboxState>({ emails: null, refusal: null });
  const now = useStore(session);
  const token = now.kind === 'none' ? null : now.token;
  useEffect(() => {
    let known: readonly CapturedEmail[] | null = null;
    let timer: ReturnType<typeof setTimeout>;
    const leaving = new AbortController();
    const look = async (): Promise<void> => {
      try {
        if (document.visibilityState === 'visible' || known === null) {
          const fresh = await readNewer(to, known?.[0]?.id ?? 0, token, leaving.signal);
          if (known === null || fresh.length > 0) {
            known = [...fresh, ...(known ?? [])].slice(0, maxEmails);
            setState({ emails: known, refusal: null });
          }
        }
      } catch (error) {
        if (leaving.signal.aborted) return;
        if (!(error instanceof ApiError)) throw error;
        // The frame says when the server is away; what was read stays. What is refused is read anew when it no longer is.
        if (error.status !== 0 && error.status < 500) {
          known = null;
          setState({ emails: null, refusal: error });
        }
        // Only another token helps.
        if (error.status === 401) return;
      }
      if (!leaving.signal.aborted) timer = setTimeout(look, pauseMs);
    };
    void look();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [to, token]);
  return state;
}

async function readNewer(
  to: string | null,
  after: number,
  token: string | null,
  signal: AbortSignal,
): Promise<readonly CapturedEmail[]> {
  const query = new URLSearchParams({ after: String(after), ...(to !== null && { to }) });
  const headers = token === null ? {} : bearer(token);
  return (await ask<readonly CapturedEmail[]>(`/studio/inbox.json?${query}`, { headers, signal })).body;
}
