/**
 * Why a connection to the database could not be made: the error of one attempt in, one of a few reasons out. What is
 * told of a reason is our own text, so no name, password or address can get into logs and answers.
 */
import type { Observe } from '../../shared/observation.ts';

/** Reasons, and the sentence for operators. */
export const failureReasons = {
  login_refused: 'The database refuses the login: its password is wrong, it does not exist, or it may not log in.',
  no_hba_entry: 'The database does not let the login in from here: pg_hba.conf has no entry that allows it.',
  database_missing: 'The database does not exist, or takes no connections.',
  too_many_connections: 'The database has no free connection for the login.',
  tls: 'The connection to the database cannot be encrypted as demanded, or its certificate is not trusted.',
  starting_up: 'The database is starting or shutting down.',
  recovery: 'The database is recovering and takes no connections yet.',
  unknown_host: 'The host of the database is unknown.',
  unreachable: 'The database cannot be reached.',
  no_answer: 'The database does not answer in time.',
  refused: 'The database refuses the connection.',
  unusable: 'The connection string of the database, or a file that it names, cannot be used.',
} as const;

/** The connection string is unusable, so no connection was attempted. The message is the driver's. */
export class UnusableConnectionError extends Error {
  override readonly name = 'UnusableConnectionError';
}

/** One of the reasons. */
export type FailureReason = keyof typeof failureReasons;

/** What the driver and the operating system tell. */
type Failure = Error & {
  readonly code?: string;
  readonly severity?: string;
  readonly detail?: string;
  readonly errors?: readonly { readonly code?: string }[];
};

const ofStates: Readonly<Record<string, FailureReason>> = {
  '28P01': 'login_refused',
  '28000': 'login_refused',
  '3D000': 'database_missing',
  '55000': 'database_missing',
  '53300': 'too_many_connections',
  '57P01': 'starting_up',
  '57P02': 'starting_up',
  '57P03': 'starting_up',
};

/** The reason. SQLSTATE first: the text of a server may be translated. */
export function failureReason(problem: Error): FailureReason {
  const { code = '', message, detail = '', severity, errors } = problem as Failure;
  if (severity !== undefined) {
    if (code === '28000' && message.includes('pg_hba.conf')) return 'no_hba_entry';
    // What it recovers from stands in the detail.
    if (code === '57P03' && /recovery|standby|consistent/i.test(`${message} ${detail}`)) return 'recovery';
    return ofStates[code] ?? 'refused';
  }
  if (problem instanceof UnusableConnectionError) return 'unusable';
  if (isOfTls(problem)) return 'tls';
  if (isTimeout(problem)) return 'no_answer';
  const cause = code || (errors?.[0]?.code ?? '');
  if (cause === 'ENOTFOUND' || cause === 'EAI_AGAIN') return 'unknown_host';
  return cause === 'ETIMEDOUT' ? 'no_answer' : 'unreachable';
}

/** In the pool of the driver, no connection has become free. */
export const noneFree = 'timeout exceeded when trying to connect';

/** The driver's words. */
export const timedOut = 'timeout expired';

const timeouts: ReadonlySet<string> = new Set([noneFree, timedOut, 'Connection terminated due to connection timeout']);

/** Whether the driver's patience was over. */
export function isTimeout({ message }: Error): boolean {
  return timeouts.has(message);
}

/** Whether TLS failed: the certificate, or a server without. */
function isOfTls({ code = '', message }: Failure): boolean {
  return /CERT|SSL|TLS|VERIFY/.test(code) || /SSL|TLS|certificate/.test(message);
}

/** Watches the attempts of one pool, or of a connection of its own. */
export interface ConnectionWatch {
  made(): void;
  failed(problem: Error): void;
}

/** A reason that comes and goes is new again after so many milliseconds. */
const forgottenAfterMs = 60_000;

/** Observes each failed attempt. A reason is new if the last one was another, or a connection was made meanwhile. */
export function watchConnections(pool: string, observe: Observe): ConnectionWatch {
  let last: { readonly reason: FailureReason; readonly at: number } | null = null;
  let wasMade = false;
  return {
    made() {
      wasMade = true;
    },
    failed(problem) {
      const reason = failureReason(problem);
      const now = performance.now();
      const isNew = reason !== last?.reason || (wasMade && now - last.at > forgottenAfterMs);
      observe({ kind: 'connection_failed', pool, reason, message: failureReasons[reason], isNew });
      if (!isNew) return;
      last = { reason, at: now };
      wasMade = false;
    },
  };
}
