import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { renderBatch } from '../../src/cli/templates/render-batch.ts';
import { programs } from '../support/bundle-programs.ts';
import { runCommand } from './run-command.ts';

interface Batch {
  /** Whether all lines were requests. */
  readonly sound: boolean;
  readonly answers: readonly unknown[];
}

/** Has pieces of text answered as `pgreflect templates render --batch` does. */
async function answerBatch(...pieces: readonly string[]): Promise<Batch> {
  const answers: unknown[] = [];
  const sound = await renderBatch(Readable.from(pieces.map((piece) => Buffer.from(piece))), (answer) =>
    answers.push(JSON.parse(JSON.stringify(answer))),
  );
  return { sound, answers };
}

const line = (request: object) => `${JSON.stringify(request)}\n`;

test('each request gets its answer, in order, whatever the outcome', async () => {
  const { sound, answers } = await answerBatch(
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
  expect(sound).toBe(true);
});

test('a layout and partials come with the request', async () => {
  const request = {
    kind: 'html',
    template: '{{ template "b" .X }}',
    partials: { b: '<b>{{ . }}</b>' },
    data: { X: '<' },
  };
  const layout = '<i>{{ template "content" . }}</i>';
  const { answers } = await answerBatch(
    line({ id: 1, ...request }),
    line({ id: 2, ...request, layout }),
    line({ id: 3, ...request, template: '<!doctype html>{{ .X }}', layout }),
    line({ id: 4, ...request, layout: 1 }),
    line({ id: 5, ...request, partials: { b: 1 } }),
  );
  expect(answers).toEqual([
    { id: 1, output: '<b>&lt;</b>' },
    { id: 2, output: '<i><b>&lt;</b></i>' },
    { id: 3, output: '<!doctype html>&lt;' },
    { id: 4, error: 'input', message: '"layout" must be a string.' },
    { id: 5, error: 'input', message: '"partials" must be an object of strings.' },
  ]);
});

test('a line that is no request is answered as such, and the rest all the same', async () => {
  const request = { id: 9, kind: 'html', template: 'x', data: {} };
  const { sound, answers } = await answerBatch(
    'nonsense\n',
    '[]\n',
    line({ ...request, kind: 'xml' }),
    line({ ...request, id: null }),
    line({ ...request, template: 5 }),
    line({ ...request, data: [] }),
    '\n',
    line(request).trimEnd(),
  );
  expect(sound).toBe(false);
  expect(answers.map((answer) => (answer as { id: unknown }).id)).toEqual([null, null, 9, null, 9, 9, null, 9]);
  expect(answers.slice(0, -1)).toEqual(Array(7).fill(expect.objectContaining({ error: 'input' })));
  expect(answers.at(-1)).toEqual({ id: 9, output: 'x' });
});

test('lines may arrive in pieces, and hold characters that other formats take for line breaks', async () => {
  const text = line({ id: 1, kind: 'text', template: 'é\u2028\u2029{{ .X }}', data: { X: '日本\r' } });
  const { sound, answers } = await answerBatch(...text);
  expect(answers).toEqual([{ id: 1, output: 'é\u2028\u2029日本\r' }]);
  expect(sound).toBe(true);
});

test('the command answers before the next request is read, and ends with 2 where a line was no request', async () => {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  const env = { PATH, HOME, NODE_COMPILE_CACHE };
  const child = spawn(process.execPath, [programs().main, 'templates', 'render', '--batch'], {
    env,
    timeout: 50_000,
  });
  child.stdin.write(line({ id: 1, kind: 'text', template: 'first', data: {} }));
  const [answer] = (await once(child.stdout, 'data')) as [Buffer];
  expect(answer.toString()).toBe('{"id":1,"output":"first"}\n');
  child.stdin.end('nonsense');
  const [rest] = (await once(child.stdout, 'data')) as [Buffer];
  expect(JSON.parse(rest.toString())).toMatchObject({ id: null, error: 'input' });
  await once(child, 'close');
  expect(child.exitCode).toBe(2);
});

test('without input there is no answer', async () => {
  expect(await answerBatch()).toEqual({ sound: true, answers: [] });
});

test('without --batch, or with another word, the command says what it takes', async () => {
  const { code, err } = await runCommand(['templates', 'render']);
  expect(code).toBe(1);
  expect(err).toContain('--batch');
  expect((await runCommand(['templates', 'rendr'])).err).toContain('render');
  expect((await runCommand(['templates', '--help'])).out).toContain('Usage: pgreflect templates');
});
