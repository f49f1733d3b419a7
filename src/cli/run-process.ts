/** One run of the command line: arguments of the process in, exit code of the process out. */
import { CommanderError } from 'commander';
import { inLines } from '../shared/one-line.ts';
import { version } from '../shared/version.ts';
import { buildProgram, type Edge } from './build-program.ts';
import type { ListedCommand } from './shared/command.ts';
import { describeError } from './shared/describe-error.ts';

/** The input of a command line. */
type CommandLineEdge = Omit<Edge, 'finished'>;

/** Runs the process's command. @param loaded As of `Edge`. */
export async function runProcess(loaded: () => void): Promise<void> {
  toleratePipes();
  process.exitCode = await runCommandLine(process.argv.slice(2), {
    environment: process.env,
    workingDirectory: process.cwd(),
    version,
    print: (text) => process.stdout.write(`${text}\n`),
    note: (text) => process.stderr.write(`${text}\n`),
    loaded,
  });
}

/**
 * Runs a command line; errors are printed. What others have written, such as a template in a difference, must not
 * command the terminal: only lines and tabs are printed as they are.
 *
 * @returns The exit code.
 */
export async function runCommandLine(args: readonly string[], given: CommandLineEdge): Promise<number> {
  const print = (text: string) => given.print(inLines(text));
  const note = (text: string) => given.note(inLines(text));
  const edge = { ...given, print, note };
  let exitCode = 0;
  const finished = (code: number) => {
    exitCode = code;
  };
  try {
    await buildProgram(commands, { ...edge, finished }).parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    edge.note(describeError(error));
    return 1;
  }
  return exitCode;
}

/** A closed output is no failure: `pgreflect schema | head`, a closed terminal, a parent that stopped reading. */
function toleratePipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      const isGone = error.code === 'EPIPE' || (error.code === 'EIO' && stream.isTTY);
      if (!isGone) throw error;
    });
  }
}

/** All commands, in the order in which `--help` lists them. */
const commands: readonly ListedCommand[] = [
  {
    name: 'start',
    summary: 'Start the gateway with an embedded PostgreSQL and an example schema.',
    load: async () => (await import('./start/start.ts')).start,
  },
  {
    name: 'status',
    summary: 'Print the URLs and keys of the running local project again.',
    load: async () => (await import('./start/status.ts')).status,
  },
  {
    name: 'serve',
    summary: 'Serve the database of --database-url.',
    load: async () => (await import('./serve/serve.ts')).serve,
  },
  {
    name: 'init',
    summary: 'Prepare a database: roles, their memberships, and usage on the exposed schemas.',
    load: async () => (await import('./init/init.ts')).init,
  },
  {
    name: 'keys',
    summary: 'Create a signing secret, the anon key and the service key, as environment variables.',
    load: async () => (await import('./keys.ts')).keys,
  },
  {
    name: 'tokens',
    summary: 'Create, list and revoke access tokens for the management API.',
    operands: ['create|list|revoke', 'ID'],
    load: async () => (await import('./tokens.ts')).tokens,
  },
  {
    name: 'config',
    summary: 'Export, compare or apply the stored auth configuration as a file.',
    operands: ['export|diff|apply', 'FILE'],
    load: async () => (await import('./config.ts')).config,
  },
  {
    name: 'users',
    summary: 'Import and export users with their password hashes, identities and second factors.',
    operands: ['import|export', 'FILE'],
    load: async () => (await import('./users.ts')).users,
  },
  {
    name: 'schema',
    summary: 'Print the GraphQL schema of a role.',
    load: async () => (await import('./schema.ts')).schema,
  },
  {
    name: 'check',
    summary: 'Report problems of a database, with the SQL that fixes them.',
    load: async () => (await import('./check/check.ts')).check,
  },
  {
    name: 'templates',
    summary: 'Copy email templates between files and a project, check them, or render them for tests.',
    operands: ['pull|push|diff|check|render', 'DIRECTORY'],
    load: async () => (await import('./templates/templates.ts')).templates,
  },
  {
    name: 'explain',
    summary: "Print the SQL of an operation and PostgreSQL's plan for it.",
    operands: ['FILE.graphql'],
    load: async () => (await import('./explain.ts')).explain,
  },
];
