/**
 * The last requests of this process, for its operators: a ring of fixed size, one object a request.
 *
 * What is kept has no value, document, address or token: an entry is made field by field of the observation, and its
 * messages are those of told-message.ts.
 */
import type { RequestObservation } from '../../shared/observation.ts';
import type { Span } from '../../shared/trace/span.ts';
import type { KeptRequests, RecentRequest, RequestFilter } from './recent-schemas.ts';
import { maxMessages } from './told-message.ts';

/** Requests that a process keeps. */
const ringSize = 500;

/** Names of operations that are kept at once. */
const maxNames = 200;

/** Masked errors that a process keeps; most requests have none. */
const maxMasked = 100;

/** As it is kept: what is read seldom is made then. */
interface KeptRequest extends Omit<RecentRequest, 'time' | 'traceId' | 'errorIds' | 'worker'> {
  readonly span: Pick<Span, 'traceId'>;
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
}

interface MaskedError {
  readonly id: string;
  readonly requestId: string;
}

/** The requests. */
export class RequestRing {
  readonly #worker: number | null;
  readonly #kept: KeptRequest[] = [];
  #next = 0;
  #masked: MaskedError[] = [];
  readonly #names = new Map<string, string>();

  /** @param worker Number of this worker process; null: it is none. */
  constructor(worker: number | null) {
    this.#worker = worker;
  }

  /** Keeps a request in the place of the oldest. */
  add(request: RequestObservation, endedAt: number): void {
    this.#kept[this.#next] = {
      endedAt,
      id: request.requestId,
      span: request.span,
      method: request.method,
      path: request.route,
      operation: this.#ownName(request.operationName),
      operationType: request.operationType,
      document: request.documentHash,
      role: request.role,
      status: request.status,
      codes: request.codes.length > maxCodes ? request.codes.slice(0, maxCodes) : request.codes,
      messages: [...new Set(request.messages)].slice(0, maxMessages).map(ownText),
      aborted: request.aborted,
      ms: request.totalMs,
      stages: request.stages,
      bytes: request.bytes,
    };
    this.#next = (this.#next + 1) % ringSize;
  }

  /** Remembers under which id an error of a request was masked. */
  addMasked(id: string, requestId: string): void {
    this.#masked.push({ id, requestId });
    if (this.#masked.length > maxMasked) this.#masked = this.#masked.slice(-maxMasked / 2);
  }

  /** The newest first that pass the filter, and since when all are kept. */
  find(filter: RequestFilter): KeptRequests {
    const found: RecentRequest[] = [];
    for (let back = 1; back <= this.#kept.length && found.length < filter.limit; back += 1) {
      const kept = this.#kept[(this.#next - back + this.#kept.length) % this.#kept.length] as KeptRequest;
      const errorIds = this.#masked.filter(({ requestId }) => requestId === kept.id).map(({ id }) => id);
      if (passes(kept, errorIds, filter)) found.push(this.#present(kept, errorIds));
    }
    const oldest = this.#kept.length < ringSize ? undefined : this.#kept[this.#next];
    return { since: oldest === undefined ? null : new Date(oldest.endedAt).toISOString(), requests: found };
  }

  #ownName(name: string | null): string | null {
    if (name === null) return null;
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    if (this.#names.size >= maxNames) this.#names.clear();
    const own = ownText(name);
    this.#names.set(own, own);
    return own;
  }

  #present({ endedAt, span, ms, stages, ...kept }: KeptRequest, errorIds: readonly string[]): RecentRequest {
    const { authenticateMs, parseMs, compileMs, waitMs, runMs, serializeMs } = stages;
    return {
      ...kept,
      time: new Date(endedAt).toISOString(),
      traceId: span.traceId,
      errorIds,
      ms: round(ms),
      stages: {
        authenticateMs: round(authenticateMs),
        parseMs: round(parseMs),
        compileMs: round(compileMs),
        waitMs: round(waitMs),
        runMs: round(runMs),
        serializeMs: round(serializeMs),
      },
      worker: this.#worker,
    };
  }
}

/** A request can have as many errors as root fields. */
const maxCodes = 10;

/** A text may be a part of a document in V8's memory, and would keep it there. */
function ownText(text: string): string {
  return Buffer.from(text).toString();
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** Whether something went wrong with a request. */
function hasFailed({ status, codes, aborted }: Pick<RecentRequest, 'status' | 'codes' | 'aborted'>): boolean {
  return aborted || status >= 400 || codes.length > 0;
}

function passes(request: KeptRequest, errorIds: readonly string[], filter: RequestFilter): boolean {
  const { operation, path, role, id, span, ms } = request;
  if (filter.failed && !hasFailed(request)) return false;
  if (ms < filter.minMs) return false;
  if (filter.role !== null && role !== filter.role) return false;
  if (filter.operation !== null && !has(operation, filter.operation)) return false;
  if (filter.path !== null && !has(path, filter.path)) return false;
  const ids = [id, span.traceId, ...errorIds];
  const isIn = (wanted: string | null, texts: readonly (string | null)[]) =>
    wanted === null || texts.some((known) => has(known, wanted));
  return isIn(filter.id, ids) && isIn(filter.text, [operation, path, ...ids]);
}

function has(text: string | null, part: string): boolean {
  return text?.toLowerCase().includes(part.toLowerCase()) ?? false;
}
