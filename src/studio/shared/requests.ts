/**
 * Requests of components: what was read, what was refused, what was typed into a form.
 */
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { ApiError, isServerThere } from './api.ts';
import { session } from './session.ts';
import { useStore } from './store.ts';

/** What was read last. */
export interface Answer<T> {
  /** Null until the first answer; stays while another is read. */
  readonly value: T | null;
  /** Why the last reading failed. */
  readonly problem: ApiError | null;
  readonly readAgain: () => void;
}

/**
 * Reads now, when the key changes, when somebody comes back to the window, and when the server or the session is back.
 *
 * @param key What the answer depends on; null: nothing can be read yet.
 * @param read The signal ends when the answer is not wanted any more.
 */
export function useAnswer<T>(key: string | null, read: (signal: AbortSignal) => Promise<T>): Answer<T> {
  const [value, setValue] = useState<T | null>(null);
  const [problem, setProblem] = useState<ApiError | null>(null);
  const [reading, setReading] = useState(0);
  const latest = useRef(read);
  latest.current = read;
  const isThere = useStore(isServerThere);
  const { kind } = useStore(session);
  const readAgain = useRef(() => setReading((count) => count + 1)).current;
  // biome-ignore lint/correctness/useExhaustiveDependencies: read again for another key, and on demand
  useEffect(() => {
    if (key === null || !isThere || kind !== 'open') return;
    const leaving = new AbortController();
    latest.current(leaving.signal).then(
      (answer) => {
        if (leaving.signal.aborted) return;
        setValue(answer);
        setProblem(null);
      },
      (error: unknown) => {
        if (!leaving.signal.aborted) setProblem(asApiError(error));
      },
    );
    return () => {
      // What ends because the server has gone is still to say so.
      if (isServerThere.get()) leaving.abort();
    };
  }, [key, reading, isThere, kind]);
  useEffect(() => {
    addEventListener('focus', readAgain);
    return () => removeEventListener('focus', readAgain);
  }, [readAgain]);
  return { value, problem, readAgain };
}

/** Something that the server may refuse to do. */
export interface Task {
  /** Why it was refused the last time. */
  readonly problem: ApiError | null;
  readonly isBusy: boolean;
  readonly run: (work: () => Promise<unknown>) => Promise<void>;
}

/** In a component. */
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

/** @throws What is no refusal: a fault of ours. */
function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  throw error;
}

/** Takes the fields of a form by name, without blanks around them. */
export function onSubmit(take: (fields: Readonly<Record<string, string>>) => void) {
  return (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const fields = [...new FormData(event.currentTarget)].map(([name, value]) => [name, String(value).trim()]);
    take(Object.fromEntries(fields));
  };
}
