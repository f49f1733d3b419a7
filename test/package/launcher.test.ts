/** How `bin/pgreflect.js` starts the gateway: with a limit for the memory of short-lived objects, in the same process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { programs } from '../support/bundle-programs.ts';

const { launcher } = programs();

/** Runs a command of the launcher: its process ID, and what the program that answered says of itself. */
async function launch(command: string, options = '') {
  const report = 'process.on("exit", () => console.error(JSON.stringify([process.pid, process.execArgv])))';
  const loaded = `--import=data:text/javascript,${encodeURIComponent(report)}`;
  const child = spawn(process.execPath, ['--stack-trace-limit=7', launcher, command, '--help'], {
    env: { ...process.env, NODE_OPTIONS: `${loaded} ${options}` },
  });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { pid: child.pid, code: child.exitCode, out, report: JSON.parse(err) as unknown };
}

test.each(['serve', 'start'])('%s limits the memory of short-lived objects and stays one process', async (command) => {
  const { pid, code, out, report } = await launch(command);
  expect([code, out]).toEqual([0, expect.stringContaining(`Usage: pgreflect ${command}`)]);
  expect(report).toEqual([pid, ['--max-semi-space-size=16', '--stack-trace-limit=7']]);
});

test('a limit of the operator wins, and other commands start once', async () => {
  expect((await launch('serve', '--max-semi-space-size=64')).report).toEqual([
    expect.any(Number),
    ['--stack-trace-limit=7'],
  ]);
  expect((await launch('keys')).report).toEqual([expect.any(Number), ['--stack-trace-limit=7']]);
});
