/** The stored emails: first all, then new ones, by server-sent events while the page is visible. */
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { CapturedEmail } from '../../../../email/transport/inbox.ts';
import { ApiError, bearer, openEvents } from '../../shared/api.ts';
import { session } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';

/** The inbox, or why it cannot be read. */
interface InboxState {
  /** Newest first; null before the first answer. */
  readonly emails: readonly CapturedEmail[] | null;
  readonly refusal: ApiError | null;
}

/** Pause before reconnecting to the events, in milliseconds. */
const pauseMs = 1000;

/** The same where a mail server takes the place of the inbox, which seldom changes. */
const replacedPauseMs = 5000;

/** The server's limit. */
export const maxEmails = 200;

/** Hook: all of them. */
export function useInbox(): InboxState {
  const [state, setState] = useState<InboxState>({ emails: null, refusal: null });
  const now = useStore(session);
  const token = now.kind === 'none' ? null : now.token;
  // A browser has few connections per server; hidden tabs hold none.
  const isVisible = useVisibility();
  const known = useRef<Known>({ of: null, emails: null });
  useEffect(() => {
    if (known.current.of !== token) known.current = { of: token, emails: null };
    if (!isVisible) return;
    const leaving = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const wait = async (): Promise<void> => {
      let isReplaced = false;
      try {
        const query = new URLSearchParams({ after: String(known.current.emails?.[0]?.id ?? 0) });
        const headers = token === null ? {} : bearer(token);
        for await (const text of openEvents(`/studio/inbox.events?${query}`, headers, leaving.signal)) {
          const fresh = JSON.parse(text) as readonly CapturedEmail[];
          const emails = [...fresh, ...(known.current.emails ?? [])].slice(0, maxEmails);
          known.current = { of: token, emails };
          setState({ emails, refusal: null });
        }
      } catch (error) {
        if (leaving.signal.aborted) return;
        if (!(error instanceof ApiError)) throw error;
        // The frame reports an unreachable server; the content stays. After a refusal, it is read again.
        if (error.status !== 0 && error.status < 500) {
          known.current = { of: token, emails: null };
          setState({ emails: null, refusal: error });
        }
        // Only a new token helps.
        if (error.status === 401) return;
        isReplaced = error.status === 404;
      }
      if (!leaving.signal.aborted) timer = setTimeout(wait, isReplaced ? replacedPauseMs : pauseMs);
    };
    void wait();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [token, isVisible]);
  return state;
}

interface Known {
  /** The token that they were read with. */
  readonly of: string | null;
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
