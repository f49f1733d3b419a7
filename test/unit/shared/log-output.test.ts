/** What becomes of log lines that nobody reads. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';

const module = new URL('../../../src/shared/log-output.ts', import.meta.url).href;
const line = 'x'.repeat(200);

/** A process that writes 5,000 lines, 1 MB, and ends. */
const start = () =>
  spawn(process.execPath, [
    '--input-type=module',
    '--eval',
    `import { logOutput } from ${JSON.stringify(module)};
    for (let n = 0; n < 5000; n += 1) logOutput(true).write(n + ' ${line}\\n');`,
  ]);

test('a reader that reads nothing holds up no process, and finds lines in order afterwards', async () => {
  const child = start();
  // At once: what nobody reads then is dropped.
  const [code, rest] = await new Promise<[number | null, Promise<string>]>((resolve) => {
    child.once('exit', (ended) => resolve([ended, text(child.stdout)]));
  });
  expect(code).toBe(0);
  const lines = (await rest).split('\n').slice(0, -1);
  expect(lines.length).toBeGreaterThan(10);
  const wrong = lines.filter((each, n) => each !== `${n} ${line}`);
  expect(wrong).toEqual([]);
});

test('a reader that is gone ends no process, and keeps none', async () => {
  const child = start();
  child.stdout.destroy();
  const [[code], errors] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
  expect([code, errors]).toEqual([0, '']);
});
