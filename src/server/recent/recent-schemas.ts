/** The last requests and the last hour as the management API shows them, and what one may ask of the requests. */
import {
  about,
  flag,
  integer,
  integerBetween,
  listOf,
  named,
  objectOf,
  oneOf,
  optional,
  orNull,
  text,
  type ValueOf,
} from '../../shared/schema.ts';
import { keptMinutes } from './minutes.ts';

const number = about(integer, { type: 'number' });
const time = about(text, { format: 'date-time' });
const milliseconds = about(number, 'In milliseconds.');

const stages = objectOf({
  authenticateMs: number,
  parseMs: number,
  compileMs: number,
  waitMs: about(number, 'For a connection to the database; a part of `runMs`.'),
  runMs: number,
  serializeMs: number,
});

/** A request that has ended. */
const recentRequest = named(
  'RecentRequest',
  objectOf({
    time: about(time, 'When it ended.'),
    id: about(text, 'As in the header `X-Request-Id`.'),
    traceId: text,
    errorIds: about(listOf(text), 'Ids in its answer under which the log has the cause of an internal error.'),
    method: text,
    path: about(orNull(text), 'Pattern of its route, with names for ids; null: no such path.'),
    operation: about(orNull(text), 'Name of the operation.'),
    operationType: orNull(oneOf('query', 'mutation', 'subscription')),
    document: about(orNull(text), 'Hash of the document.'),
    role: about(orNull(text), 'Null: refused before it was known.'),
    status: integer,
    codes: about(listOf(text), 'Codes of its errors, ten at most.'),
    messages: about(
      listOf(text),
      'What the errors say, as far as that is made of names and words of the gateway: three at most, with "…" for what is left out.',
    ),
    aborted: about(flag, 'The client left first.'),
    ms: milliseconds,
    stages: about(stages, 'In milliseconds, as in the log; 0 for those not reached.'),
    bytes: about(integer, 'Of the body before compression.'),
    worker: about(orNull(integer), 'Number of the worker process.'),
  }),
);

/** The same. */
export type RecentRequest = ValueOf<typeof recentRequest>;

const processes = {
  processes: about(integer, 'Processes of this gateway.'),
  answered: about(integer, 'Those whose part is in the answer.'),
};

/** The last requests of all processes. */
export const recentRequests = named(
  'RecentRequests',
  objectOf({
    ...processes,
    since: about(orNull(time), 'Requests that ended before may be missing; null: none is.'),
    requests: about(listOf(recentRequest), 'Newest first.'),
  }),
);

/** The same. */
export type RecentRequests = ValueOf<typeof recentRequests>;

/** Those of one process. */
export type KeptRequests = Pick<RecentRequests, 'since' | 'requests'>;

const usageMinute = objectOf({
  time: about(time, 'Its beginning.'),
  requests: integer,
  clientErrors: integer,
  serverErrors: integer,
  refused: about(integer, 'By a rate limit, or because of overload.'),
  aborted: integer,
  p50Ms: about(orNull(number), 'Of the durations; null without a request.'),
  p95Ms: orNull(number),
  p99Ms: orNull(number),
  connectionsUsed: about(integer, 'Most at a time of the pool of requests; the sum of the processes.'),
  connectionsMax: integer,
  requestsWaiting: about(integer, 'Most at a time that waited for a connection.'),
  signIns: about(integer, 'Sign-ins, sign-ups and verifications that succeeded.'),
  authFailures: integer,
  emails: about(integer, 'Sent or captured.'),
  emailsFailed: integer,
  liveEvents: about(integer, 'Answers that subscriptions got.'),
});

/** The last hour of all processes. */
export const usage = named(
  'Usage',
  objectOf({
    ...processes,
    minutes: about(listOf(usageMinute), `The last ${keptMinutes}, oldest first, with the current one.`),
  }),
);

/** The same. */
export type Usage = ValueOf<typeof usage>;

/** A minute of it. */
export type UsageMinute = Usage['minutes'][number];

/** Most requests in an answer. */
const maxRequests = 500;
const defaultRequests = 100;

/** What to find; null: anything. */
export interface RequestFilter {
  readonly failed: boolean;
  readonly minMs: number;
  readonly operation: string | null;
  readonly role: string | null;
  readonly path: string | null;
  readonly id: string | null;
  /** In operation, path or id. */
  readonly text: string | null;
  readonly limit: number;
}

/** Query parameters of the list. */
export const requestFilters = {
  failed: optional(about(flag, 'Only those with an error status, an error code or a client that left.')),
  min_ms: optional(about(integerBetween(0, 3_600_000), 'Only those that took this many milliseconds.')),
  operation: optional(about(text, 'A part of the name of the operation.')),
  role: optional(about(text, 'The role.')),
  path: optional(about(text, 'A part of the path.')),
  id: optional(about(text, 'A part of the id of the request, its trace or a masked error.')),
  text: optional(about(text, 'A part of the operation, the path or an id.')),
  limit: optional(about(integerBetween(1, maxRequests), { default: defaultRequests })),
};

/** Reads them; empty ones count as absent. @throws Error that names the parameter. */
export function readRequestFilter(query: Readonly<Record<string, unknown>>): RequestFilter {
  const read = <T>(name: keyof typeof requestFilters, parse: (given: string) => T, otherwise: T): T => {
    const given = query[name];
    if (given === undefined || given === '') return otherwise;
    if (typeof given !== 'string') throw new Error(`${name} must be given once`);
    try {
      return parse(given);
    } catch (error) {
      throw new Error(`${name} ${(error as Error).message}`);
    }
  };
  const part = (name: 'operation' | 'role' | 'path' | 'id' | 'text') =>
    read<string | null>(name, (given) => given, null);
  return {
    failed: read('failed', flag.parseText, false),
    minMs: read('min_ms', requestFilters.min_ms.parseText, 0),
    operation: part('operation'),
    role: part('role'),
    path: part('path'),
    id: part('id'),
    text: part('text'),
    limit: read('limit', requestFilters.limit.parseText, defaultRequests),
  };
}
