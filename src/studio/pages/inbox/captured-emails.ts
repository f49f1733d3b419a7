/**
 * The kept emails: all of them first, then what is new, by server-sent events while the page is visible.
 */
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { ApiError, bearer, openEvents } from '../../shared/api.ts';
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

/** Pause before the events are asked for again where they ended, in milliseconds. */
const pauseMs = 1000;

/** As many as the server keeps. */
const maxEmails = 200;

/** @param to Only emails to this address; null: all. */
export function useInbox(to: string | null): InboxState {
  const [state, setState] = useState<InboxState>({ emails: null, refusal: null });
  const now = useStore(session);
  const token = now.kind === 'none' ? null : now.token;
  // A browser has few connections for one server; tabs that nobody sees hold none.
  const isVisible = useVisibility();
  const known = useRef<Known>({ of: '', emails: null });
  useEffect(() => {
    const of = JSON.stringify([to, token]);
    if (known.current.of !== of) known.current = { of, emails: null };
    if (!isVisible) return;
    const leaving = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const wait = async (): Promise<void> => {
      try {
        const query = new URLSearchParams({
          after: String(known.current.emails?.[0]?.id ?? 0),
          ...(to !== null && { to }),
        });
        const headers = token === null ? {} : bearer(token);
        for await (const text of openEvents(`/studio/inbox.events?${query}`, headers, leaving.signal)) {
          const fresh = JSON.parse(text) as readonly CapturedEmail[];
          const emails = [...fresh, ...(known.current.emails ?? [])].slice(0, maxEmails);
          known.current = { of, emails };
          setState({ emails, refusal: null });
        }
      } catch (error) {
        if (leaving.signal.aborted) return;
        if (!(error instanceof ApiError)) throw error;
        // The frame says when the server is away; what was read stays. What is refused is read anew when it no longer is.
        if (error.status !== 0 && error.status < 500) {
          known.current = { of, emails: null };
          setState({ emails: null, refusal: error });
        }
        // Only another token helps.
        if (error.status === 401) return;
      }
      if (!leaving.signal.aborted) timer = setTimeout(wait, pauseMs);
    };
    void wait();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [to, token, isVisible]);
  return state;
}

interface Known {
  /** Which emails they are. */
  readonly of: string;
  readonly emails: readonly CapturedEmail[] | null;
}

function useVisibility(): boolean {
  return useSyncExternalStore(
    (listener) => {
      document.addEventListener('visibilitychange', listener);
      return () => document.removeEventListener('visibilitychange', listener);
    },
    () => document.visibilityState === 'visible',
  );
}
