/**
 * The span of the request that is being answered, for code far below it: requests to other machines, hooks, emails.
 *
 * For all APIs but GraphQL's, whose requests pass their span on, because they are many and call nobody.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span, SpanEnd, SpanFacts, SpanKind } from './span.ts';

const storage = new AsyncLocalStorage<Span | null>();

/** The span; null outside of a request. */
export function currentSpan(): Span | null {
  return storage.getStore() ?? null;
}

/** Runs it for the span, with all that it starts. Null: for none. */
export function withSpan<T>(span: Span | null, run: () => T): T {
  return storage.run(span, run);
}

/** What begins as a part of the current span. */
export interface SpanPart {
  readonly name: string;
  readonly kind: SpanKind;
  readonly facts?: SpanFacts;
  /** Of the result. */
  readonly endOf?: (result: never) => SpanEnd;
}

/** Runs it as a part of the current span. An error ends the part under the error's code or name. */
export async function inSpan<T>({ name, kind, facts, endOf }: SpanPart, run: () => Promise<T>): Promise<T> {
  const parent = currentSpan();
  if (parent === null || !parent.isRecorded) return run();
  const span = parent.begin(name, kind, facts);
  try {
    const result = await withSpan(span, run);
    span.end(endOf?.(result as never));
    return result;
  } catch (error) {
    span.end({ error: errorType(error) });
    throw error;
  }
}

/** A word for the kind of an error: texts of errors may have values. */
export function errorType(error: unknown): string {
  const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: unknown };
  if (typeof code === 'string' && /^[A-Za-z0-9_]{1,60}$/.test(code)) return code;
  return typeof name === 'string' ? name : 'Error';
}
