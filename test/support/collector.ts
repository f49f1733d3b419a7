/**
 * A collector of OpenTelemetry: takes spans by OTLP over HTTP, and decodes the bytes by the numbers of the fields in
 * `opentelemetry/proto/trace/v1/trace.proto`.
 */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished, vi } from 'vitest';
import type { WhenOver } from './when-over.ts';

/** A span that has arrived. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: none. */
  readonly parentId: string;
  readonly state: string;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  /** Nanoseconds since the epoch. */
  readonly start: bigint;
  readonly end: bigint;
  readonly facts: Readonly<Record<string, unknown>>;
  /** As `trace/span`. */
  readonly links: readonly string[];
  readonly isError: boolean;
  /** Of the process. */
  readonly resource: Readonly<Record<string, unknown>>;
}

/** A collector. */
export interface Collector {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  readonly requests: { readonly headers: IncomingHttpHeaders; readonly path: string }[];
  /** From now on; null: never. */
  answer(status: number | null): void;
}

/** Starts it; stopped when the test has ended. */
export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const requests: Collector['requests'] = [];
  let status: number | null = 200;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    requests.push({ headers: request.headers, path: request.url ?? '' });
    if (status === null) return;
    if (status === 200) spans.push(...decodeRequest(Buffer.concat(chunks)));
    response.writeHead(status).end(status === 200 ? '' : 'secret of the collector');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    answer(next) {
      status = next;
    },
  };
}

/** What has arrived at a collector that keeps nothing, for as many spans as there may be. */
export interface SpanCounter {
  readonly url: string;
  spans: number;
  /** Those of requests. */
  requests: number;
}

/** Starts it. */
export async function startSpanCounter(whenOver: WhenOver): Promise<SpanCounter> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const scopes = all(decode(Buffer.concat(chunks)), 1).flatMap((ofResource) => all(ofResource, 2));
    const spans = scopes.flatMap((ofScope) => all(ofScope, 2));
    counter.spans += spans.length;
    counter.requests += spans.filter((span) => kinds[Number(numberOf(span, 6))] === 'server').length;
    response.writeHead(200).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  whenOver(async () => void server.close().closeAllConnections());
  const counter = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans: 0, requests: 0 };
  return counter;
}

/** Names the collector in the environment of this process until the test has ended, with more variables. */
export function sendTracesTo({ url }: Pick<Collector, 'url'>, more: Readonly<Record<string, string>> = {}): void {
  const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_BSP_SCHEDULE_DELAY: '20', ...more };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
}

/** Varints and fixed numbers as `bigint`, all else as bytes, by the number of the field. */
type Fields = ReadonlyMap<number, readonly (bigint | Buffer)[]>;

function decode(bytes: Buffer): Fields {
  const fields = new Map<number, (bigint | Buffer)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]!;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const take = (length: number) => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const type = tag & 7;
    const value =
      type === 0
        ? varint()
        : type === 1
          ? take(8).readBigUInt64LE()
          : type === 5
            ? BigInt(take(4).readUInt32LE())
            : take(Number(varint()));
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value]);
  }
  return fields;
}

const all = (fields: Fields, number: number) => (fields.get(number) ?? []).map((bytes) => decode(bytes as Buffer));
const bytesOf = (fields: Fields, number: number) => (fields.get(number)?.[0] as Buffer | undefined) ?? Buffer.alloc(0);
const numberOf = (fields: Fields, number: number) => (fields.get(number)?.[0] as bigint | undefined) ?? 0n;

function decodeRequest(body: Buffer): readonly ReceivedSpan[] {
  return all(decode(body), 1).flatMap((ofResource) => {
    const resource = factsOf(all(ofResource, 1)[0] ?? new Map(), 1);
    return all(ofResource, 2).flatMap((ofScope) => all(ofScope, 2).map((span) => toSpan(span, resource)));
  });
}

const kinds = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const;

function toSpan(span: Fields, resource: ReceivedSpan['resource']): ReceivedSpan {
  const hex = (fields: Fields, number: number) => bytesOf(fields, number).toString('hex');
  return {
    traceId: hex(span, 1),
    spanId: hex(span, 2),
    state: bytesOf(span, 3).toString(),
    parentId: hex(span, 4),
    name: bytesOf(span, 5).toString(),
    kind: kinds[Number(numberOf(span, 6))]!,
    start: numberOf(span, 7),
    end: numberOf(span, 8),
    facts: factsOf(span, 9),
    links: all(span, 13).map((link) => `${hex(link, 1)}/${hex(link, 2)}`),
    isError: all(span, 15).some((status) => numberOf(status, 3) === 2n),
    resource,
  };
}

function factsOf(fields: Fields, number: number): Readonly<Record<string, unknown>> {
  const entries = all(fields, number).map((pair) => [
    bytesOf(pair, 1).toString(),
    textOrNumber(all(pair, 2)[0] ?? new Map()),
  ]);
  return Object.fromEntries(entries);
}

function textOrNumber(value: Fields): unknown {
  if (value.has(1)) return bytesOf(value, 1).toString();
  if (value.has(2)) return numberOf(value, 2) === 1n;
  if (value.has(3)) return Number(numberOf(value, 3));
  return null;
}
