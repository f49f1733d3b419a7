/** Requests in components: the answer, the error, and form fields. */
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { ApiError, outage } from './api.ts';
import { session } from './session.ts';
import { useStore } from './store.ts';

/** The last answer. */
export interface Answer<T> {
  /** Null before the first answer; stays during the next request. */
  readonly value: T | null;
  readonly problem: ApiError | null;
  readonly readAgain: () => void;
}

/**
 * Requests now, and again when the key changes, when the user returns to the window, and when the server or the session
 * is back.
 *
 * @param key Identifies the request; null: not possible yet.
 * @param read Its signal is aborted when the answer is no longer needed.
 */
export function useAnswer<T>(key: string | null, read: (signal: AbortSignal) => Promise<T>): Answer<T> {
  const [value, setValue] = useState<T | null>(null);
  const [problem, setProblem] = useState<ApiError | null>(null);
  const [reading, setReading] = useState(0);
  const latest = useRef(read);
  latest.current = read;
  const isThere = useStore(outage) === null;
  const { kind } = useStore(session);
  const readAgain = useRef(() => setReading((count) => count + 1)).current;
  const pending = useRef({ isReading: false, isStale: false }).current;
  // biome-ignore lint/correctness/useExhaustiveDependencies: read again for another key, and on demand
  useEffect(() => {
    if (key === null || !isThere || kind === 'expired') return;
    const leaving = new AbortController();
    pending.isReading = true;
    pending.isStale = false;
    const finish = (): void => {
      pending.isReading = false;
      if (pending.isStale) readAgain();
    };
    latest.current(leaving.signal).then(
      (answer) => {
        if (leaving.signal.aborted) return;
        setValue(answer);
        setProblem(null);
        finish();
      },
      (error: unknown) => {
        if (leaving.signal.aborted) return;
        setProblem(asApiError(error));
        finish();
      },
    );
    return () => {
      pending.isReading = false;
      // A request that fails because the server is gone must still report that.
      if (outage.get() === null) leaving.abort();
    };
  }, [key, reading, isThere, kind]);
  useEffect(() => {
    // A slow answer is waited for: it would never come if each return to the window began anew.
    const onFocus = (): void => {
      if (pending.isReading) pending.isStale = true;
      else readAgain();
    };
    addEventListener('focus', onFocus);
    return () => removeEventListener('focus', onFocus);
  }, [readAgain, pending]);
  return { value, problem, readAgain };
}

/** An action that the server may refuse. */
interface Task {
  readonly problem: ApiError | null;
  readonly isBusy: boolean;
  readonly run: (work: () => Promise<unknown>) => Promise<void>;
}

/** Hook for a component. */
export function useTask(): Task {
  const [problem, setProblem] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const run = async (work: () => Promise<unknown>): Promise<void> => {
    setProblem(null);
    setBusy(true);
    await work().catch((error: unknown) => setProblem(asApiError(error)));
    setBusy(false);
  };
  return { problem, isBusy, run };
}

/** @throws Any other error: a fault of ours. */
function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  throw error;
}

/** Passes the fields of a form by name: trimmed, but for a password, whose blanks belong to it. */
export function onSubmit(take: (fields: Readonly<Record<string, string>>) => void) {
  return (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const fields = [...new FormData(event.currentTarget)].map(([name, value]) => [
      name,
      name === 'password' ? String(value) : String(value).trim(),
    ]);
    take(Object.fromEntries(fields));
  };
}
