/** How long the stages of an operation take: for the log, the metrics and the spans, from the same marks. */
import { errorType } from './trace/current-span.ts';
import type { Span, SpanFacts } from './trace/span.ts';

/** Durations of the stages of an operation in milliseconds, named as in `Server-Timing` and the log. */
export interface Stages {
  readonly parseMs: number;
  readonly compileMs: number;
  /** For a connection to the database; a part of `runMs`. */
  readonly waitMs: number;
  readonly runMs: number;
}

/** Stages of a request that did not reach the executor. */
export const noStages: Stages = { parseMs: 0, compileMs: 0, waitMs: 0, runMs: 0 };

/** One flight, in terms of `performance.now()`. */
export interface FlightMarks {
  /** It was wanted. */
  readonly since: number;
  /** It had a connection; null: it never had. */
  readonly sentAt: number | null;
  /** The server, by semantic conventions. */
  readonly server: SpanFacts;
  /** What kind of statements it had. */
  readonly operation: string;
  /** What it failed with; absent: it did not. */
  readonly problem?: unknown;
}

/** Measures one operation, which may have several attempts. */
export class Stopwatch implements Stages {
  parseMs = 0;
  compileMs = 0;
  waitMs = 0;
  runMs = 0;
  /** Null where nobody wants to know. */
  readonly #span: Span | null;
  #endedAt: number | null = null;

  constructor(span: Span | null) {
    this.#span = span?.isRecorded === true ? span : null;
  }

  /** When the last stage was over, in terms of `performance.now()`. */
  get endedAt(): number | null {
    return this.#endedAt;
  }

  /** A stage is over. */
  add(stage: 'parse' | 'compile', since: number): void {
    const until = performance.now();
    if (stage === 'parse') this.parseMs += until - since;
    else this.compileMs += until - since;
    this.#endedAt = until;
    this.#span?.part(stage, since, { until });
  }

  /** A flight is over. */
  addFlight({ since, sentAt, server, operation, problem }: FlightMarks): void {
    const until = performance.now();
    this.runMs += until - since;
    this.#endedAt = until;
    this.waitMs += (sentAt ?? until) - since;
    if (this.#span === null) return;
    this.#span.part('wait for a connection', since, { until: sentAt ?? until });
    if (sentAt === null) return;
    const error = problem === undefined ? undefined : errorType(problem);
    const facts = { ...server, 'db.system.name': 'postgresql', 'db.operation.name': operation };
    const name = `${operation} ${server['db.namespace'] ?? ''}`.trimEnd();
    this.#span.part(name, sentAt, {
      kind: 'client',
      facts: { ...facts, 'db.response.status_code': error },
      error,
      until,
    });
  }
}
