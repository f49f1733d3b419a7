/**
 * One run of the command line: arguments of the process in, exit code of the process out.
 */
import { CommanderError } from 'commander';
import { inLines } from '../shared/one-line.ts';
import { version } from '../shared/version.ts';
import { buildProgram, type Edge } from './build-program.ts';
import { check } from './check/check.ts';
import { explain } from './explain.ts';
import { init } from './init/init.ts';
import { keys } from './keys.ts';
import { schema } from './schema.ts';
import { serve } from './serve/serve.ts';
import type { Command } from './shared/command.ts';
import { describeError } from './shared/describe-error.ts';
import { start } from './start/start.ts';
import { status } from './start/status.ts';
import { templates } from './templates/templates.ts';
import { tokens } from './tokens.ts';

/** The input of a command line. */
type CommandLineEdge = Omit<Edge, 'finished'>;

/** Runs the process's command. */
export async function runProcess(): Promise<void> {
  toleratePipes();
  process.exitCode = await runCommandLine(process.argv.slice(2), {
    environment: process.env,
    workingDirectory: process.cwd(),
    version,
    print: (text) => process.stdout.write(`${text}\n`),
    note: (text) => process.stderr.write(`${text}\n`),
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

/**
 * A closed output is no failure: `pgreflect schema | head`, a closed terminal, or a parent that started a gateway and
 * stopped reading.
 */
function toleratePipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      const isGone = error.code === 'EPIPE' || (error.code === 'EIO' && stream.isTTY);
      if (!isGone) throw error;
    });
  }
}

/** All commands, in the order in which `--help` lists them. */
const commands: readonly Command[] = [start, status, serve, init, keys, tokens, schema, check, templates, explain];
