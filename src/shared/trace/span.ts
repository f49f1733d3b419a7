/**
 * Spans: what a request and its parts took, and which trace they belong to. Without an exporter only the ids are real.
 *
 * Times are in terms of `performance.now()`, because the parts of a request are measured for the log in any case.
 */
import { randomId, type TraceParent } from './trace-context.ts';

/** As in OpenTelemetry. */
export type SpanKind = 'server' | 'client' | 'internal' | 'producer' | 'consumer';

/** Attributes by the names of the semantic conventions; never a value of a user. Undefined: left out. */
export type SpanFacts = Readonly<Record<string, string | number | boolean | undefined>>;

/** How a span ended. */
export interface SpanEnd {
  readonly facts?: SpanFacts;
  /** A better name than the one that it began with. */
  readonly name?: string;
  /** A word for what went wrong, such as a SQLSTATE; absent: nothing. */
  readonly error?: string | undefined;
  /** Default: now. */
  readonly until?: number;
}

/** A request, an email or a part of one. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** It will be exported, with its parts. */
  readonly isRecorded: boolean;
  /** The database logs its trace. */
  readonly isInDatabase: boolean;
  /** What machines that are called for it learn; null: it belongs to no trace that anyone else knows. */
  readonly outgoing: TraceParent | null;
  /** Adds a part that is over. */
  part(name: string, since: number, end?: SpanEnd & { readonly kind?: SpanKind }): void;
  /** Begins a part. */
  begin(name: string, kind: SpanKind, facts?: SpanFacts): Span;
  /** Ends it; parts may still end. */
  end(end?: SpanEnd): void;
}

/** How a span begins. */
export interface SpanStart {
  /** What the headers of a request say. */
  readonly parent?: TraceParent | null;
  /** A span of another trace that caused it. An email is recorded where its request is. */
  readonly link?: TraceParent | null;
  /** Default: now. */
  readonly since?: number;
}

/** Begins spans that are no part of another one here. */
export interface Tracer {
  begin(name: string, kind: SpanKind, start?: SpanStart): Span;
  /** Sends what is recorded. */
  stop(): Promise<void>;
}

/** Requests whose trace the database logs. */
export type TraceInDatabase = 'recorded' | 'always' | 'never';

/** Records nothing. A trace that a request came with is passed on as it is: no span of ours is to be found in it. */
export function createUntraced(inDatabase: TraceInDatabase): Tracer {
  const isInDatabase = inDatabase === 'always';
  return {
    begin: (_name, _kind, { parent = null } = {}) => new UnrecordedSpan(parent, isInDatabase),
    stop: async () => {},
  };
}

/** The same, without a word to the database. */
export const untraced: Tracer = createUntraced('never');

/** A span that is not exported. Most requests have one whose ids nobody asks for, so they are made then. */
export class UnrecordedSpan implements Span {
  readonly isRecorded = false;
  readonly outgoing: TraceParent | null;
  readonly isInDatabase: boolean;
  #ids: Pick<TraceParent, 'traceId' | 'spanId'> | null;

  /** @param known What others know of it. */
  constructor(known: TraceParent | null, isInDatabase: boolean) {
    this.isInDatabase = isInDatabase;
    this.outgoing = known;
    this.#ids = known;
  }

  get traceId(): string {
    return this.#known().traceId;
  }

  get spanId(): string {
    return this.#known().spanId;
  }

  #known(): Pick<TraceParent, 'traceId' | 'spanId'> {
    this.#ids ??= { traceId: randomId(16), spanId: randomId(8) };
    return this.#ids;
  }

  part(): void {}

  begin(): Span {
    return this;
  }

  end(): void {}
}
