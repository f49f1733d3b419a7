/**
 * Observations -> log lines: JSON for machines, readable on a terminal. One line a request.
 *
 * Lines are built field by field from what an observation has, so values, tokens and SQL cannot slip in; an error's stack
 * and its cause are logged only with `masked_error` and failed reloads.
 */
import { Writable } from 'node:stream';
import { type DestinationStream, type Level, type Logger, pino } from 'pino';
import { unreachable } from './invariant.ts';
import { LogOutput, type LogOutputOptions } from './log-output.ts';
import type { Observation, Observe, RequestObservation } from './observation.ts';

/** How the lines look and where they go. */
export interface LoggerOptions {
  readonly level: Level | 'silent';
  readonly format: 'pretty' | 'json';
  /** Requests that take at least this many milliseconds are logged as warnings. */
  readonly slowMs: number;
  /** Other processes write to the same standard output: lines are written in pieces that a pipe takes whole. */
  readonly sharesOutput?: boolean;
  /** Takes the lines instead of standard output. */
  readonly stream?: DestinationStream;
}

/** Writes observations as log lines. */
export interface ObservationLogger {
  readonly observe: Observe;
  /** Writes out what is still buffered. */
  flush(): void;
}

/** For machines, which do not mind to wait a moment. */
const gathered: LogOutputOptions = { gatherBytes: 16_000, pieceBytes: 16_384 };
/** POSIX promises that a pipe takes 4096 bytes without those of others in between. */
const shared: LogOutputOptions = { gatherBytes: 3000, pieceBytes: 4096 };
/** For people. */
const atOnce: LogOutputOptions = { gatherBytes: 0, pieceBytes: 4096 };

/** Makes the logger of a process. */
export async function createLogger(options: LoggerOptions): Promise<ObservationLogger> {
  const isPretty = options.format === 'pretty';
  const output = new LogOutput(isPretty ? atOnce : options.sharesOutput ? shared : gathered);
  const target = options.stream ?? output;
  const stream = isPretty ? await prettyStream(target, options.stream === undefined) : target;
  const log = pino({ level: options.level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream);
  return {
    observe: (observation) => write(log, observation, options.slowMs),
    flush: () => output.flush(),
  };
}

/** Loaded for people only: a service that logs JSON does without. */
async function prettyStream(target: DestinationStream, isOutput: boolean): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty');
  const sink = new Writable({
    write(chunk, _encoding, done) {
      target.write(String(chunk));
      done();
    },
  });
  return pretty({ colorize: isOutput && process.stdout.isTTY, ignore: 'pid,hostname', destination: sink });
}

interface Line {
  readonly level: Level;
  readonly text: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

function write(log: Logger, observation: Observation, slowMs: number): void {
  // Most requests where only warnings are logged: nothing to put together.
  if (observation.kind === 'request' && !log.isLevelEnabled(levelOf(observation, slowMs))) return;
  const { level, text, fields } = observation.kind === 'request' ? requestLine(observation, slowMs) : line(observation);
  log[level](fields, text);
}

function line(observation: Exclude<Observation, RequestObservation>): Line {
  switch (observation.kind) {
    case 'listening':
      return { level: 'info', text: 'listening', fields: { url: observation.url } };
    case 'stopping':
      return { level: 'info', text: 'stopping', fields: {} };
    case 'stopped':
      return { level: 'info', text: 'stopped', fields: {} };
    case 'masked_error': {
      const { id, requestId, error } = observation;
      return { level: 'error', text: 'masked error', fields: { id, requestId, err: error } };
    }
    case 'reloaded': {
      const { reason, durationMs } = observation;
      return { level: 'info', text: 'schema reloaded', fields: { reason, ms: round(durationMs) } };
    }
    case 'reload_failed': {
      const { reason, error } = observation;
      return {
        level: 'error',
        text: 'schema reload failed; still serving the previous schema',
        fields: { reason, err: error },
      };
    }
    case 'database_lost':
      return { level: 'error', text: 'database connection lost; reconnecting', fields: { reason: observation.reason } };
    case 'database_back':
      return { level: 'info', text: 'database back', fields: {} };
    case 'replica_used':
    case 'replica_left_out':
    case 'worker_ready':
    case 'worker_ended':
      return partnerLine(observation);
    case 'requests_shed':
    case 'connections_refused':
      return refusedLine(observation);
    case 'prepared_statements_off': {
      const text = 'the database is behind a pooler with shared sessions; prepared statements are off';
      return { level: 'warn', text, fields: { option: '--prepared-statements=false' } };
    }
    case 'email_captured':
    case 'email_delayed':
    case 'email_given_up':
    case 'text_not_sent':
    case 'hook_failed':
      return messageLine(observation);
    case 'template_refused': {
      const { email, source, problem, kept } = observation;
      const text = `email template refused; the ${kept} one is used`;
      return { level: 'error', text, fields: { email, source, problem } };
    }
    case 'warning':
      return { level: 'warn', text: observation.message, fields: observation.hint ? { hint: observation.hint } : {} };
    default:
      return unreachable(observation);
  }
}

/** What was refused within a second. */
function refusedLine({ kind, count }: Extract<Observation, { kind: 'requests_shed' | 'connections_refused' }>): Line {
  if (kind === 'requests_shed') {
    const text = 'requests refused within a second: overloaded';
    return { level: 'warn', text, fields: { count } };
  }
  const text = 'connections refused within a second: too many open in total or from one address';
  return { level: 'warn', text, fields: { count, options: '--max-connections, --max-connections-per-address' } };
}

type PartnerObservation = Extract<Observation, { kind: `replica_${string}` | `worker_${string}` }>;

/** What became of a read replica, or of a process that answers beside others. */
function partnerLine(observation: PartnerObservation): Line {
  switch (observation.kind) {
    case 'replica_used':
      return { level: 'info', text: 'read replica used', fields: { replica: observation.replica } };
    case 'replica_left_out': {
      const { replica, reason } = observation;
      const text = 'read replica removed; the other replicas and the primary serve queries';
      return { level: 'warn', text, fields: { replica, reason } };
    }
    case 'worker_ready': {
      const { worker, pid } = observation;
      return { level: 'info', text: 'worker ready', fields: { worker, pid } };
    }
    case 'worker_ended': {
      const { worker, code, signal } = observation;
      return { level: 'error', text: 'worker exited; replacing it', fields: { worker, code, signal } };
    }
  }
}

type MessageObservation = Extract<Observation, { kind: `email_${string}` | 'text_not_sent' | 'hook_failed' }>;

/** What became of a message to a user, or to a hook. */
function messageLine(observation: MessageObservation): Line {
  switch (observation.kind) {
    case 'email_captured': {
      const { email, inboxUrl } = observation;
      const text = 'no mail server configured; email captured in the inbox';
      return { level: 'info', text, fields: { email, url: inboxUrl } };
    }
    case 'email_delayed':
    case 'email_given_up': {
      const { email, userId, attempts, reason } = observation;
      const fields = { email, user: userId, attempts, reason };
      return observation.kind === 'email_delayed'
        ? { level: 'warn', text: 'email not sent; will retry', fields }
        : { level: 'error', text: 'email not sent; given up', fields };
    }
    case 'text_not_sent': {
      const { provider, reason } = observation;
      return { level: 'error', text: 'text message not sent', fields: { provider, reason } };
    }
    case 'hook_failed': {
      const { hook, reason } = observation;
      return { level: 'error', text: 'hook failed', fields: { hook, reason } };
    }
  }
}

function requestLine(observation: RequestObservation, slowMs: number): Line {
  const { requestId, method, path, status, address, role, operationName, documentHash, codes, stages } = observation;
  const slow = observation.totalMs >= slowMs;
  const fields = {
    id: requestId,
    method,
    path,
    status,
    address,
    role,
    operation: operationName,
    document: documentHash,
    ...(codes.length > 0 && { codes: codes.slice(0, maxCodes) }),
    ms: round(observation.totalMs),
    authenticateMs: round(stages.authenticateMs),
    parseMs: round(stages.parseMs),
    compileMs: round(stages.compileMs),
    runMs: round(stages.runMs),
    bytes: observation.bytes,
    ...(observation.aborted && { aborted: true }),
  };
  return { level: levelOf(observation, slowMs), text: slow ? 'slow request' : 'request', fields };
}

function levelOf({ totalMs, status, path, shed }: RequestObservation, slowMs: number): Level {
  if (totalMs >= slowMs || (status >= 500 && !shed)) return 'warn';
  return path === '/health' || path === '/ready' ? 'debug' : 'info';
}

/** Codes of one request in its line; a request can have as many errors as root fields. */
const maxCodes = 10;

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
