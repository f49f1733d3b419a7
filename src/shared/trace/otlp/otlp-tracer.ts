/**
 * Sends spans to a collector by OTLP over HTTP, with the packages of OpenTelemetry. Loaded only where one is named.
 *
 * Requests never wait for it: spans wait in a queue of limited length, and are dropped beyond it.
 */

import { hostname } from 'node:os';
import {
  type Span as ApiSpan,
  type Tracer as ApiTracer,
  type Context,
  createTraceState,
  type HrTime,
  SpanKind as Kind,
  ROOT_CONTEXT,
  type SpanContext,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  type IdGenerator,
  type SpanExporter,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { finishesWithin } from '../../finishes-within.ts';
import type { Observe } from '../../observation.ts';
import { version } from '../../version.ts';
import {
  type Span,
  type SpanEnd,
  type SpanFacts,
  type SpanKind,
  type SpanStart,
  type TraceInDatabase,
  type Tracer,
  UnrecordedSpan,
} from '../span.ts';
import { randomId, type TraceParent } from '../trace-context.ts';
import { collectorAgents } from './collector-agent.ts';
import { RequestSampler } from './request-sampler.ts';
import type { TraceSettings } from './trace-environment.ts';

/** The time for what is recorded to be sent when the gateway stops, in milliseconds. */
const lastSendMs = 2000;

/** What is no variable of OpenTelemetry. */
export interface TracerOptions {
  readonly observe: Observe;
  readonly inDatabase: TraceInDatabase;
}

/** Opens it. Address, headers and time limit are OpenTelemetry's variables, which its exporter reads. */
export function createOtlpTracer(
  { sampling, batch, limits }: TraceSettings,
  { observe, inDatabase }: TracerOptions,
): Tracer {
  const httpAgentOptions = collectorAgents(process.env);
  const exporter = reportFailures(
    new OTLPTraceExporter(httpAgentOptions === null ? {} : { httpAgentOptions }),
    observe,
  );
  const own = {
    'service.name': 'pgreflect',
    'service.version': version,
    'host.name': hostname(),
    'process.pid': process.pid,
  };
  const ids = new TraceIds();
  const sampler = new RequestSampler(sampling);
  const named = detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] });
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(own)).merge(named),
    // Only what is recorded gets there.
    sampler: new AlwaysOnSampler(),
    idGenerator: ids,
    spanLimits: limits,
    spanProcessors: [new BatchSpanProcessor({ ...batch, exporter })],
  });
  const tracer = provider.getTracer('pgreflect', version);
  return {
    begin: (name, kind, start) => beginTrace({ tracer, sampler, ids, inDatabase }, name, kind, start),
    stop: async () => {
      await finishesWithin(
        lastSendMs,
        provider.shutdown().catch(() => {}),
      );
    },
  };
}

interface TraceParts extends Pick<TracerOptions, 'inDatabase'> {
  readonly tracer: ApiTracer;
  readonly sampler: RequestSampler;
  readonly ids: TraceIds;
}

/** Ids as in traces that are not recorded: which one is, is decided by its id before. */
class TraceIds implements IdGenerator {
  next = '';
  readonly generateTraceId = () => this.next;
  readonly generateSpanId = () => randomId(8);
}

/** Most requests are not recorded, and cost no more than the decision. */
function beginTrace(
  { tracer, sampler, ids, inDatabase }: TraceParts,
  name: string,
  kind: SpanKind,
  { parent, link, since }: SpanStart = {},
): Span {
  const context = parent ? trace.setSpanContext(ROOT_CONTEXT, toContext(parent)) : ROOT_CONTEXT;
  const links = link ? [{ context: toContext(link) }] : [];
  const state = parent?.state ?? '';
  const traceId = parent?.traceId ?? randomId(16);
  if (!sampler.takes(context, traceId, kinds[kind], links)) {
    return new UnrecordedSpan({ traceId, spanId: randomId(8), isSampled: false, state }, inDatabase === 'always');
  }
  ids.next = traceId;
  const clock = Date.now() - performance.now();
  const startTime = toTime(clock, since ?? performance.now());
  const span = tracer.startSpan(name, { kind: kinds[kind], startTime, links }, context);
  return new RecordedSpan(tracer, span, { clock, state, isInDatabase: inDatabase !== 'never' });
}

const kinds: { readonly [K in SpanKind]: Kind } = {
  server: Kind.SERVER,
  client: Kind.CLIENT,
  internal: Kind.INTERNAL,
  producer: Kind.PRODUCER,
  consumer: Kind.CONSUMER,
};

function toContext({ traceId, spanId, isSampled, state }: TraceParent): SpanContext {
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return { traceId, spanId, traceFlags, isRemote: true, ...(state !== '' && { traceState: createTraceState(state) }) };
}

function toParent(span: ApiSpan, state: string): TraceParent {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return { traceId, spanId, isSampled: (traceFlags & TraceFlags.SAMPLED) !== 0, state };
}

/** @param clock The time of the machine at 0 of `performance.now()`: one for a trace, so that its parts fit together. */
function toTime(clock: number, at: number): HrTime {
  const ms = clock + at;
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}

interface Surroundings {
  readonly isInDatabase: boolean;
  readonly clock: number;
  readonly state: string;
}

class RecordedSpan implements Span {
  readonly isRecorded = true;
  readonly outgoing: TraceParent;
  readonly #tracer: ApiTracer;
  readonly #span: ApiSpan;
  readonly #context: Context;
  readonly #surroundings: Surroundings;

  constructor(tracer: ApiTracer, span: ApiSpan, surroundings: Surroundings) {
    this.#tracer = tracer;
    this.#span = span;
    this.#context = trace.setSpan(ROOT_CONTEXT, span);
    this.#surroundings = surroundings;
    this.outgoing = toParent(span, surroundings.state);
  }

  get isInDatabase(): boolean {
    return this.#surroundings.isInDatabase;
  }

  get traceId(): string {
    return this.outgoing.traceId;
  }

  get spanId(): string {
    return this.outgoing.spanId;
  }

  part(
    name: string,
    since: number,
    { kind = 'internal', facts, ...end }: SpanEnd & { readonly kind?: SpanKind } = {},
  ): void {
    const until = end.until ?? performance.now();
    if (until - since < leastMs && end.error === undefined) return;
    endSpan(this.#start(name, kind, { facts, since }), this.#surroundings, { ...end, until });
  }

  begin(name: string, kind: SpanKind, facts?: SpanFacts): Span {
    return new RecordedSpan(
      this.#tracer,
      this.#start(name, kind, { facts, since: performance.now() }),
      this.#surroundings,
    );
  }

  end(end: SpanEnd = {}): void {
    endSpan(this.#span, this.#surroundings, end);
  }

  #start(
    name: string,
    kind: SpanKind,
    { facts = {}, since }: { readonly facts: SpanFacts | undefined; readonly since: number },
  ): ApiSpan {
    const startTime = toTime(this.#surroundings.clock, since);
    return this.#tracer.startSpan(name, { kind: kinds[kind], startTime, attributes: facts }, this.#context);
  }
}

function endSpan(span: ApiSpan, { clock }: Surroundings, { name, facts, error, until }: SpanEnd): void {
  if (name !== undefined) span.updateName(name);
  if (facts !== undefined)
    for (const [key, value] of Object.entries(facts)) if (value !== undefined) span.setAttribute(key, value);
  if (error !== undefined) span.setAttribute('error.type', error).setStatus({ code: SpanStatusCode.ERROR });
  span.end(toTime(clock, until ?? performance.now()));
}

/** Parts that took less tell nothing, such as a look-up of a known document. */
const leastMs = 0.05;

/** Success, as the packages number it. */
const succeeded = 0;

/** Names each different reason once, until spans are taken again. The packages would log each attempt, with its address. */
function reportFailures(exporter: SpanExporter, observe: Observe): SpanExporter {
  const reported = new Set<string>();
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.code === succeeded) reported.clear();
        else report(reasonOf(result.error));
        done({ code: succeeded });
      });
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };

  function report(reason: string): void {
    if (reported.has(reason)) return;
    reported.add(reason);
    const message = `Traces cannot be sent: ${reason}. Those of meanwhile are lost.`;
    observe({ kind: 'warning', message, hint: 'Check OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS.' });
  }
}

/** Without texts of the collector or of the system, which may quote what was sent. */
function reasonOf(error: Error | undefined): string {
  const { code, cause } = (error ?? {}) as { readonly code?: unknown; readonly cause?: { readonly code?: unknown } };
  const known = [code, cause?.code].find((each) => typeof each === 'number' || typeof each === 'string');
  if (typeof known === 'number') return `the collector answers ${known}`;
  return typeof known === 'string' && /^[A-Z_0-9]{2,40}$/.test(known)
    ? known
    : 'the collector is busy, or does not answer in time';
}
