/** Describes errors of commands, with the fix. Never shows a password or the text of a statement. */
import { ConfigError, type Problem, printProblem } from '../../config/config-error.ts';
import { databaseName, decodePart, parseConnectionUrl } from '../../config/connection-url.ts';
import { DatabaseError, isAway } from '../../postgres/database-error.ts';
import { EmbeddedServerError } from '../../postgres/embedded/embedded-server-error.ts';
import { type FailureReason, failureReason } from '../../postgres/wire/connection-failure.ts';
import { onOneLine } from '../../shared/one-line.ts';
import { CommandError } from './command.ts';

const fileAdvice = 'Check the name, the permissions and the free disk space.';

/** The whole message for standard error. */
export function describeError(error: unknown): string {
  if (error instanceof ConfigError || error instanceof CommandError) return listProblems(error.problems);
  if (error instanceof EmbeddedServerError) return listProblems([{ problem: error.message, fix: error.hint }]);
  if (error instanceof DatabaseError) return listProblems([describeDatabaseError(error, null)]);
  if (isOfFile(error)) return listProblems([{ problem: describeFile(error), fix: fileAdvice }]);
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `pgreflect failed with an unexpected error. Please report this:\n${stack}`;
}

/** Whether the operating system refused a file; its message names the file, and the operator can fix it. */
function isOfFile(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'path' in error;
}

/** `"/srv/.pgreflect" cannot be created (EACCES: permission denied).` */
function describeFile({ path, syscall = '', code, message }: NodeJS.ErrnoException): string {
  const [, reason = code] = /^(E\w+: [^,]+),/.exec(message) ?? [];
  return `"${path}" cannot be ${verbs.get(syscall) ?? 'used'} (${reason}).`;
}

const verbs: ReadonlyMap<string, string> = new Map([
  ['mkdir', 'created'],
  ['open', 'opened'],
  ['rename', 'renamed'],
  ['unlink', 'deleted'],
  ['rmdir', 'deleted'],
  ['scandir', 'read'],
]);

function listProblems(problems: readonly Problem[]): string {
  const heading = problems.length === 1 ? 'There is 1 problem:' : `There are ${problems.length} problems:`;
  return `${heading}\n${problems.map(printProblem).join('\n')}`;
}

/** Host, port and database of a connection string, without user and password. */
export function describePlace(connectionString: string): string {
  const url = parseConnectionUrl(connectionString);
  if (url === null) return 'the database';
  const host = url.searchParams.get('host') || decodePart(url.hostname) || 'localhost';
  const port = url.searchParams.get('port') || url.port || '5432';
  return `the database "${databaseName(connectionString) ?? 'of the login role'}" at ${host}:${port}`;
}

/** Why the database was not reachable. `connectionString` null: unknown. */
export function describeDatabaseError(error: DatabaseError, connectionString: string | null): Problem {
  const place = connectionString === null ? 'the database' : describePlace(connectionString);
  const user =
    connectionString === null ? 'the login role' : decodePart(parseConnectionUrl(connectionString)?.username ?? '');
  const cause = error.cause as { code?: string; message?: string; errors?: { code?: string }[] } | undefined;
  const code = error.sqlstate ?? cause?.code ?? cause?.errors?.[0]?.code ?? '';
  const reason = reasons[code];
  if (reason !== undefined) return { problem: reason.problem(place, user), fix: reason.fix };
  if (error.kind === 'unavailable' || error.kind === 'overloaded') {
    const detail = cause?.message ?? error.primary;
    return {
      problem: `Cannot connect to ${place}: ${detail}`,
      fix: 'Check --database-url and whether the server is reachable.',
    };
  }
  const state = error.sqlstate === null ? '' : ` (${error.sqlstate})`;
  return { problem: `PostgreSQL refused: ${onOneLine(error.primary)}${state}`, fix: error.hint };
}

/** True if the server is unreachable or not ready, false if it refused. */
export function isNotReady(error: unknown): boolean {
  return isAway(error) && passing.has(failureReason(error.cause instanceof Error ? error.cause : error));
}

/** Reasons that may pass without an operator. */
const passing: ReadonlySet<FailureReason> = new Set([
  'starting_up',
  'recovery',
  'too_many_connections',
  'unknown_host',
  'unreachable',
  'no_answer',
]);

interface Reason {
  problem(place: string, user: string): string;
  readonly fix: string;
}

const unreachable: Reason = {
  problem: (place) => `Cannot connect to ${place}: connection refused.`,
  fix: 'Start PostgreSQL, or check host and port in --database-url.\nTo use an embedded database: pgreflect start',
};
const unknownHost: Reason = {
  problem: (place) => `Cannot connect to ${place}: the host is unknown.`,
  fix: 'Check the host in --database-url.',
};
const untrusted: Reason = {
  problem: (place) => `The certificate of ${place} is not signed by a trusted authority.`,
  fix: 'Add ?sslrootcert=FILE with the certificate of the authority to --database-url.',
};

const reasons: Readonly<Record<string, Reason>> = {
  '28P01': {
    problem: (place, user) =>
      `Cannot log in to ${place}: the password of "${user}" is wrong, or there is no such role.`,
    fix: 'Check user and password in --database-url; `pgreflect init` creates a login role.',
  },
  '28000': {
    problem: (place, user) =>
      `The server does not let "${user}" log in to ${place} from here, or there is no such role.`,
    fix: 'Check the user in --database-url, pg_hba.conf on the server, and whether it requires TLS (?sslmode=require).',
  },
  '3D000': {
    problem: (place) => `${place[0]?.toUpperCase()}${place.slice(1)} does not exist.`,
    fix: 'Create it (create database NAME;) or check the name in --database-url.',
  },
  '53300': {
    problem: (place) => `The server has no free connection for ${place}.`,
    fix: 'Raise max_connections, or lower --pool-size.',
  },
  '57P03': { problem: (place) => `The server of ${place} is still starting.`, fix: 'Try again in a moment.' },
  ECONNREFUSED: unreachable,
  ETIMEDOUT: unreachable,
  EHOSTUNREACH: unreachable,
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
};
