/**
 * Turns observations into log lines: JSON for machines, readable text for a terminal. One line per request.
 *
 * Lines are built field by field, so values, tokens and SQL cannot slip in. An error's stack and cause are logged only
 * with `masked_error` and failed reloads.
 */
import { hostname } from 'node:os';
import { Writable } from 'node:stream';
import { type DestinationStream, type Level, type Logger, pino } from 'pino';
import { logOutput } from './log-output.ts';
import type { Observation, Observe, RequestObservation } from './observation.ts';
import { inJsonLines, inLines } from './one-line.ts';
import { currentSpan } from './trace/current-span.ts';
import type { Span } from './trace/span.ts';
import { version } from './version.ts';

/** Format and target of the lines. Level and duration may be replaced. */
export interface LoggerOptions {
  readonly level: Level | 'silent';
  readonly format: 'pretty' | 'json';
  /** Requests that take at least this many milliseconds are logged as warnings. */
  readonly slowMs: number;
  /** For a local project: do not log the requests that its pages send on their own. */
  readonly isLocal?: boolean;
  /** How addresses of clients are logged; default: as they are. */
  readonly showAddress?: (address: string) => string | null;
  /** Number of this worker process, from 1; absent: it is none. */
  readonly worker?: number | undefined;
  /** Receives the lines instead of standard output. */
  readonly stream?: DestinationStream;
}

interface ObservationLogger {
  readonly observe: Observe;
  flush(): void;
}

/** Makes the logger of a process. */
export async function createLogger(options: LoggerOptions): Promise<ObservationLogger> {
  const isPretty = options.format === 'pretty';
  // Machines tolerate a short delay.
  const target: DestinationStream & { flush?: () => void } = options.stream ?? logOutput(!isPretty);
  // A log is read in terminals, too: C1 controls begin commands there, and JSON need not escape them.
  const json: DestinationStream = { write: (line) => target.write(inJsonLines(line)) };
  const stream = isPretty ? await prettyStream(target, options.stream === undefined) : json;
  const { worker } = options;
  let { level } = options;
  const base = isPretty ? null : { service, version, host: hostname(), pid: process.pid, ...(worker && { worker }) };
  const formatters = isPretty ? {} : { level: (name: string) => ({ level: name }) };
  const log = pino({ level, base, formatters, timestamp: pino.stdTimeFunctions.isoTime }, stream);
  return {
    observe: (observation) => {
      if (level !== options.level) log.level = level = options.level;
      write(log, observation, options);
    },
    flush: () => target.flush?.(),
  };
}

/** Loaded only for terminals: a service that logs JSON does not need it. */
async function prettyStream(target: DestinationStream, isOutput: boolean): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty');
  const sink = new Writable({
    write(chunk, _encoding, done) {
      // Texts of errors come from others. `pino-pretty` removes their escapes, but not what also begins a command.
      target.write(String(chunk).split('\u001b').map(inLines).join('\u001b'));
      done();
    },
  });
  return pretty({
    colorize: isOutput && process.stdout.isTTY,
    ignore: 'pid,hostname',
    singleLine: true,
    destination: sink,
  });
}

/** As `OTEL_SERVICE_NAME` says, so that lines and spans are of the same service. */
const service = process.env.OTEL_SERVICE_NAME || 'pgreflect';

interface Line {
  readonly level: Level;
  readonly text: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

function write(log: Logger, observation: Observation, options: LoggerOptions): void {
  if (observation.kind !== 'request') {
    const { level, text, fields } = lineOf(hideAddress(observation, options));
    log[level]({ ...fields, ...traceFields(spanOf(observation)) }, text);
    return;
  }
  const level = levelOf(observation, options);
  // If only warnings are logged, most requests stop here.
  if (!log.isLevelEnabled(level)) return;
  const isSlow = observation.totalMs >= options.slowMs;
  if (options.format === 'pretty') log[level](requestText(observation, isSlow));
  else log[level](requestFields(observation, options), isSlow ? 'slow request' : 'request');
}

/** The span that an event belongs to; null for events of connections and of the process. */
function spanOf(observation: Exclude<Observation, RequestObservation>): Span | null {
  if ('span' in observation && observation.span) return observation.span;
  return ofRequests.has(observation.kind) ? currentSpan() : null;
}

/** What happens while a request is answered. Others may be noticed then, too. */
const ofRequests: ReadonlySet<Observation['kind']> = new Set([
  'masked_error', 'email', 'email_captured', 'email_delayed', 'email_given_up', 'template_refused', 'template_tolerated',
  'link_filtered', 'password_absent', 'text_not_sent', 'hook_failed',
]); // biome-ignore format: a list

/** Named as OpenTelemetry's collectors look for them. */
function traceFields(span: Span | null): Line['fields'] {
  return span === null ? {} : { trace_id: span.traceId, span_id: span.spanId };
}

function hideAddress<O extends Observation>(observation: O, { showAddress }: LoggerOptions): O {
  if (showAddress === undefined || !('address' in observation) || typeof observation.address !== 'string')
    return observation;
  return { ...observation, address: showAddress(observation.address) };
}

/** For a terminal: the most important facts on one line. */
function requestText(observation: RequestObservation, isSlow: boolean): string {
  const { method, path, status, totalMs, role, operationName, codes, requestId, aborted } = observation;
  const parts = [
    `${method} ${path} ${status}`,
    `${totalMs < 10 ? totalMs.toFixed(1) : Math.round(totalMs)} ms${isSlow ? ', slow' : ''}`,
    ...(role === null ? [] : [role]),
    ...(operationName === null ? [] : [operationName]),
    ...codes.slice(0, maxCodes),
    ...(aborted ? ['aborted'] : []),
    ...(status >= 500 ? [requestId] : []),
  ];
  return parts.join('  ');
}

function lineOf(observation: Exclude<Observation, RequestObservation>): Line {
  return (lines[observation.kind] as (observation: Observation) => Line)(observation);
}

type Kind = Exclude<Observation['kind'], 'request'>;

const at =
  (level: Level) =>
  (text: string, fields: Line['fields'] = {}): Line => ({ level, text, fields });
const [debug, info, warn, error] = [at('debug'), at('info'), at('warn'), at('error')];

const lines: { readonly [K in Kind]: (observation: Observation & { readonly kind: K }) => Line } = {
  subscription: ({
    requestId: id,
    role,
    operationName: operation,
    documentHash: document,
    totalMs,
    events,
    runs,
    ended,
  }) => info('subscription', { id, role, operation, document, ms: round(totalMs), events, runs, ended }),
  // `service` is the gateway's own, on each line.
  external_call: ({ service: called, name, outcome, durationMs }) =>
    debug('external call', { called, name, outcome, ms: round(durationMs) }),
  listening: ({ url, took: { loadMs, schemaMs, authMs, serverMs } }) =>
    info('listening', {
      url,
      loadMs: round(loadMs),
      schemaMs: round(schemaMs),
      authMs: round(authMs),
      serverMs: round(serverMs),
    }),
  stopping: () => info('stopping'),
  stopped: () => info('stopped'),
  masked_error: ({ id, requestId, error: err }) => error('masked error', { id, requestId, err }),
  reloaded: ({ reason, durationMs }) => info('schema reloaded', { reason, ms: round(durationMs) }),
  reload_failed: ({ reason, error: err }) =>
    error('schema reload failed; still serving the previous schema', { reason, err }),
  trusted_documents: ({ number }) => info('trusted documents read again', { number }),
  database_lost: ({ reason }) => error('database connection lost; reconnecting', { reason }),
  connection_failed: ({ pool, reason, message, isNew }) => (isNew ? warn : debug)(message, { pool, reason }),
  database_back: () => info('database back'),
  live_mode: ({ exact }) =>
    exact
      ? info('live queries run when a table that they read has changed')
      : info('live queries run at an interval', { command: 'pgreflect init --live' }),
  replica_used: ({ replica }) => info('read replica used', { replica }),
  replica_left_out: ({ replica, reason, fix }) =>
    warn('read replica removed; the other replicas and the primary serve queries', {
      replica,
      reason,
      ...(fix !== undefined && {
        hint: `It is not known yet whether it follows the new primary. To know at once: ${fix};`,
      }),
    }),
  worker_ready: ({ worker, pid }) => info('worker ready', { worker, workerPid: pid }),
  worker_ended: ({ worker, code, signal }) => error('worker exited; replacing it', { worker, code, signal }),
  requests_shed: ({ count }) => warn('requests refused within a second: overloaded', { count }),
  connections_refused: ({ count }) =>
    warn('connections refused within a second: too many open in total or from one address', {
      count,
      options: '--max-connections, --max-connections-per-address',
    }),
  connections_closed: ({ count }) =>
    warn('connections closed: too much memory for large requests and unread responses', { count }),
  prepared_statements_off: () =>
    warn('the database is behind a pooler with shared connections; prepared statements are off', {
      option: '--prepared-statements=false',
    }),
  email: ({ email, state }) => debug('email', { email, state }),
  email_captured: ({ email, inboxUrl: url }) =>
    info('no mail server configured; email captured in the inbox', { email, url }),
  email_delayed: ({ email, userId: user, attempts, reason }) =>
    warn('email not sent; will retry', { email, user, attempts, reason }),
  email_given_up: ({ email, userId: user, attempts, reason }) =>
    error('email not sent; given up', { email, user, attempts, reason }),
  template_refused: ({ email, source, problem, kept }) =>
    error(`email template refused; the ${kept} one is used`, { email, source, problem }),
  template_tolerated: ({ email, part, line }) =>
    warn('an email template met a value of another type than it expects; it counted as unequal or empty', {
      email,
      part,
      line,
      option: '--mailer-template-lenient-compare',
    }),
  link_filtered: ({ email, redirectScheme }) =>
    warn('an email has #ZgotmplZ in place of an address whose scheme links may not have', {
      email,
      redirectScheme,
      hint: 'Add schemes of your applications to mailer_extra_url_schemes.',
    }),
  password_absent: ({ userId: user }) =>
    info('sign-in refused: the user has no password', {
      user,
      hint: 'A sign-up that was confirmed by an opened link keeps no password; the user sets one after the link, or by a recovery email.',
    }),
  text_not_sent: ({ provider, reason }) => error('text message not sent', { provider, reason }),
  hook_failed: ({ hook, reason }) => error('hook failed', { hook, reason }),
  message: ({ level, message, hint }) => at(level)(message, hint ? { hint } : {}),
  warning: ({ message, hint, address }) => warn(message, { ...(hint && { hint }), ...(address && { address }) }),
};

function requestFields(observation: RequestObservation, { showAddress }: LoggerOptions): Line['fields'] {
  const { requestId, span, method, path, status, address, role, operationName, documentHash, codes, stages } =
    observation;
  return {
    id: requestId,
    ...traceFields(span),
    method,
    path,
    status,
    address: address === null || showAddress === undefined ? address : showAddress(address),
    role,
    operation: operationName,
    document: documentHash,
    ...(codes.length > 0 && { codes: codes.slice(0, maxCodes) }),
    ms: round(observation.totalMs),
    authenticateMs: round(stages.authenticateMs),
    parseMs: round(stages.parseMs),
    compileMs: round(stages.compileMs),
    waitMs: round(stages.waitMs),
    runMs: round(stages.runMs),
    serializeMs: round(stages.serializeMs),
    bytes: observation.bytes,
    ...(observation.aborted && { aborted: true }),
  };
}

function levelOf(observation: RequestObservation, { slowMs, isLocal = false }: LoggerOptions): Level {
  const { totalMs, status, path, shed } = observation;
  if (totalMs >= slowMs || (status >= 500 && !shed)) return 'warn';
  if (path === '/health' || path === '/ready') return 'debug';
  return isLocal && isOfPages(observation) ? 'debug' : 'info';
}

/** Files of studio and GraphiQL, the studio's own requests, and preflights of browsers. */
function isOfPages({ method, path, fromStudio }: RequestObservation): boolean {
  return fromStudio || method === 'OPTIONS' || path === '/studio' || /^\/studio\/|^\/graphql\/v1\/./.test(path);
}

/** Most codes in a request's line; a request can have as many errors as root fields. */
const maxCodes = 10;

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
