/**
 * The edge of the process: command line in, exit code out.
 *
 * `bin/pgreflect.js` and the npm scripts run this with a Node that is recent enough; an older one cannot even read the file
 * and never gets here.
 */
import { CommanderError } from 'commander';
import { buildProgram } from './commands/build-program.ts';
import { commands } from './commands/commands.ts';
import { describeError } from './commands/describe-error.ts';
import { readVersion } from './commands/package-files.ts';

async function main(): Promise<void> {
  let exitCode = 0;
  const program = buildProgram(commands, {
    environment: process.env,
    workingDirectory: process.cwd(),
    version: readVersion(),
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

// A reader that has seen enough (`pgreflect schema | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

await main();
