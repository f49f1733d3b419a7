/**
 * One run of the command line: arguments of the process in, exit code of the process out.
 */
import { CommanderError } from 'commander';
import { version } from '../shared/version.ts';
import { buildProgram, type Edge } from './build-program.ts';
import { commands } from './commands.ts';
import { describeError } from './shared/describe-error.ts';

/** What a command line is given. */
type CommandLineEdge = Omit<Edge, 'finished'>;

/** Runs the command that the process was started with. */
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

/** Runs a command line to its end; what went wrong is noted. @returns The exit code. */
export async function runCommandLine(args: readonly string[], edge: CommandLineEdge): Promise<number> {
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
 * Somebody who reads no more is no failure: one who has seen enough (`pgreflect schema | head`), a terminal that was closed, or
 * whoever has started a gateway, which serves on.
 */
function toleratePipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      const isGone = error.code === 'EPIPE' || (error.code === 'EIO' && stream.isTTY);
      if (!isGone) throw error;
    });
  }
}
