/**
 * One run of the command line: arguments of the process in, exit code of the process out.
 */
import { CommanderError } from 'commander';
import { version } from '../shared/version.ts';
import { buildProgram } from './build-program.ts';
import { commands } from './commands.ts';
import { describeError } from './describe-error.ts';

/** Runs the command that the process was started with. */
export async function runProcess(): Promise<void> {
  toleratePipes();
  let exitCode = 0;
  const program = buildProgram(commands, {
    environment: process.env,
    workingDirectory: process.cwd(),
    version,
    print: (text) => process.stdout.write(`${text}\n`),
    note: (text) => process.stderr.write(`${text}\n`),
    finished: (code) => {
      exitCode = code;
    },
  });
  try {
    await program.parseAsync(process.argv);
  } catch (error) {
    if (error instanceof CommanderError) exitCode = error.exitCode;
    else {
      process.stderr.write(`${describeError(error)}\n`);
      exitCode = 1;
    }
  }
  process.exitCode = exitCode;
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
