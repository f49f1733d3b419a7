import { expect, test } from 'vitest';
import { runCommand } from './run-command.ts';

const secret = 'a-secret-of-at-least-thirty-two-characters';

function linesOf(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/^(PGREFLECT_\w+)='?(.*?)'?$/gm)].map(([, name, value]) => [name, value]);
  return Object.fromEntries(pairs) as Record<string, string>;
}

test('a new secret and its two keys are printed as lines for an environment file', async () => {
  const { code, out } = await runCommand(['keys']);
  expect(code).toBe(0);
  expect(Object.keys(linesOf(out))).toEqual(['PGREFLECT_JWT_SECRET', 'PGREFLECT_ANON_KEY', 'PGREFLECT_SERVICE_KEY']);
});

test('the keys of a given secret are always the same', async () => {
  const first = await runCommand(['keys', '--jwt-secret', secret]);
  const second = await runCommand(['keys'], { env: { PGREFLECT_JWT_SECRET: secret } });
  expect(second.out).toBe(first.out);
  expect(linesOf(first.out).PGREFLECT_JWT_SECRET).toBe(secret);
});

test('the printed secret makes the printed keys again', async () => {
  const first = linesOf((await runCommand(['keys'])).out);
  const second = linesOf((await runCommand(['keys'], { env: first })).out);
  expect(second).toEqual(first);
});

test('--asymmetric prints a key pair, and its public part apart', async () => {
  const { out } = await runCommand(['keys', '--asymmetric']);
  const [key] = JSON.parse(linesOf(out).PGREFLECT_JWT_KEYS ?? '') as [{ alg: string; d: string; key_ops: string[] }];
  expect(key).toMatchObject({ alg: 'ES256', key_ops: ['sign', 'verify'] });
  const published = /JSON Web Key Set: (.*)$/m.exec(out)?.[1] ?? '';
  expect(JSON.parse(published)).toMatchObject({ keys: [{ alg: 'ES256', key_ops: ['verify'] }] });
  expect(published).not.toContain(key.d);
});
