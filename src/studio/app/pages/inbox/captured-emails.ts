/** The stored emails: first all, then each second the new ones, while somebody looks. */
import type { CapturedEmail } from '../../../../email/transport/inbox.ts';
import { type ApiError, ask, bearer } from '../../shared/api.ts';
import { useAgain } from '../../shared/recent.ts';
import { type Answer, useAnswer } from '../../shared/requests.ts';
import { session } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';

/** The inbox, or why it cannot be read. */
interface InboxState {
  /** Newest first; null before the first answer. */
  readonly emails: readonly CapturedEmail[] | null;
  readonly refusal: ApiError | null;
}

/** The server's limit. */
export const maxEmails = 200;

interface Known {
  /** The token that they were read with. */
  readonly of: string | null;
  readonly emails: readonly CapturedEmail[];
}

/** Hook: all of them. */
export function useInbox(): InboxState {
  const now = useStore(session);
  const token = now.kind === 'none' ? null : now.token;
  const answer: Answer<Known> = useAnswer(`inbox ${token}`, async (signal) => {
    const known = answer.value?.of === token ? answer.value.emails : [];
    const headers = token === null ? {} : bearer(token);
    const path = `/studio/inbox.json?after=${known[0]?.id ?? 0}`;
    const { body } = await ask<readonly CapturedEmail[]>(path, { headers, signal });
    return { of: token, emails: [...body, ...known].slice(0, maxEmails) };
  });
  const { value, problem } = answer;
  // A mail server that takes the place of the inbox seldom goes.
  useAgain(answer, problem?.status === 404 ? 5000 : 1000);
  // The frame reports an unreachable server; the content stays.
  const refusal = problem !== null && problem.status !== 0 && problem.status < 500 ? problem : null;
  return { emails: value?.of === token ? value.emails : null, refusal };
}
