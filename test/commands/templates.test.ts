import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runCommand } from './run-command.ts';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

interface Batch {
  readonly code: number | null;
  readonly answers: readonly unknown[];
  readonly err: string;
}

/** Sends pieces of text to `pgreflect templates render --batch`. */
async function renderBatch(...pieces: readonly string[]): Promise<Batch> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  const child = spawn(process.execPath, [main, 'templates', 'render', '--batch'], {
    env: { PATH, HOME, NODE_COMPILE_CACHE },
    timeout: 50_000,
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  for (const piece of pieces) child.stdin.write(piece);
  child.stdin.end();
  const [code] = (await once(child, 'close')) as [number | null];
  const lines = out.split('\n').slice(0, -1);
  return { code, answers: lines.map((line) => JSON.parse(line) as unknown), err };
}

const line = (request: object) => `${JSON.stringify(request)}\n`;

test('each request gets its answer, in order, whatever the outcome', async () => {
  const { code, answers, err } = await renderBatch(
    line({ id: 1, kind: 'html', template: 'Hello {{ .Data.first }}', data: { Data: { first: 'Ana <b>' } } }),
    line({
      id: 'two',
      kind: 'text',
      template: 'Hello {{ .Data.first }} {{ .N }}{{ .Q }}',
      data: { Data: { first: 'Ana <b>' }, N: null },
    }),
    line({ id: 3, kind: 'html', template: 'a\n{{ shout }}', data: {} }),
    line({ id: 4, kind: 'html', template: '<a href="x', data: {} }),
    line({ id: 5, kind: 'html', template: 'a\nb {{ .S.x }}', data: { S: 'text' } }),
    line({ id: 6, kind: 'html', template: '{{ .Data.n }} {{ .Data.__proto__ }}', data: { Data: { n: 1500000 } } }),
  );
  expect(answers).toEqual([
    { id: 1, output: 'Hello Ana &lt;b&gt;' },
    { id: 'two', output: 'Hello Ana <b> ' },
    { id: 3, error: 'parse', message: 'function "shout" not defined', line: 2 },
    { id: 4, error: 'escape', message: expect.stringContaining('ends in a non-text context') },
    { id: 5, error: 'exec', message: "can't evaluate field x in type string", line: 2 },
    { id: 6, output: '1.5e&#43;06 ' },
  ]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
});

test('a line that is no request is answered as such, and the rest all the same; the exit code is 2', async () => {
  const request = { id: 9, kind: 'html', template: 'x', data: {} };
  const { code, answers } = await renderBatch(
    'nonsense\n',
    '[]\n',
    line({ ...request, kind: 'xml' }),
    line({ ...request, id: null }),
    line({ ...request, template: 5 }),
    line({ ...request, data: [] }),
    '\n',
    line(request).trimEnd(),
  );
  expect(code).toBe(2);
  expect(answers.map((answer) => (answer as { id: unknown }).id)).toEqual([null, null, 9, null, 9, 9, null, 9]);
  expect(answers.slice(0, -1)).toEqual(Array(7).fill(expect.objectContaining({ error: 'input' })));
  expect(answers.at(-1)).toEqual({ id: 9, output: 'x' });
});

test('lines may arrive in pieces, and hold line separators that are none of JSON', async () => {
  const text = line({ id: 1, kind: 'text', template: 'é\u2028\u2029{{ .X }}', data: { X: '日本\r' } });
  const { code, answers } = await renderBatch(...text);
  expect(answers).toEqual([{ id: 1, output: 'é\u2028\u2029日本\r' }]);
  expect(code).toBe(0);
});

test('an answer comes before the next request is read', async () => {
  const child = spawn(process.execPath, [main, 'templates', 'render', '--batch'], { timeout: 50_000 });
  child.stdin.write(line({ id: 1, kind: 'text', template: 'first', data: {} }));
  const [answer] = (await once(child.stdout, 'data')) as [Buffer];
  expect(answer.toString()).toBe('{"id":1,"output":"first"}\n');
  child.stdin.end();
  await once(child, 'close');
  expect(child.exitCode).toBe(0);
});

test('no input is no request', async () => {
  expect(await renderBatch()).toEqual({ code: 0, answers: [], err: '' });
});

test('without --batch, or with another word, the command says what it takes', async () => {
  const { code, err } = await runCommand(['templates', 'render']);
  expect(code).toBe(1);
  expect(err).toContain('--batch');
  expect((await runCommand(['templates', 'rendr'])).err).toContain('render');
  expect((await runCommand(['templates', '--help'])).out).toContain('Usage: pgreflect templates');
});
