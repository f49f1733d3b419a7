import {
  chmodSync,
  chownSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { decodeProtectedHeader } from 'jose';
import { describe, expect, test } from 'vitest';
import type { JsonWebKeyMember } from '../../src/config/json-web-keys.ts';
import { makeSigningKey } from '../../src/config/keys.ts';
import { runCommand, temporaryDirectory } from './run-command.ts';

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

describe('keys of a file', () => {
  const fileOf = (directory: string) => join(directory, 'keys.json');
  const readKeys = (directory: string) => JSON.parse(readFileSync(fileOf(directory), 'utf8')) as JsonWebKeyMember[];
  const change = (directory: string, ...args: string[]) =>
    runCommand(['keys', ...args, '--jwt-keys', 'keys.json'], { directory });

  test('a secret becomes the first key that only verifies; --rotate lets the next one sign, --retire removes the others', async () => {
    const directory = temporaryDirectory();
    const begun = await runCommand(['keys', '--rotate', '--asymmetric', '--out', 'keys.json', '--jwt-secret', secret], {
      directory,
    });
    expect(begun.err).toContain('Remove jwt_secret (PGREFLECT_JWT_SECRET)');
    expect(statSync(fileOf(directory)).mode & 0o777).toBe(0o600);
    const [signing, old] = readKeys(directory) as [JsonWebKeyMember, JsonWebKeyMember];
    expect(signing).toMatchObject({ alg: 'ES256', key_ops: ['sign', 'verify'] });
    expect(old).toEqual({
      kty: 'oct',
      alg: 'HS256',
      k: Buffer.from(secret).toString('base64url'),
      key_ops: ['verify'],
    });
    expect(decodeProtectedHeader(linesOf(begun.out).PGREFLECT_ANON_KEY ?? '').kid).toBe(signing.kid);

    await change(directory, '--rotate');
    const [next, before, oldest] = readKeys(directory) as [JsonWebKeyMember, JsonWebKeyMember, JsonWebKeyMember];
    expect(next.kid).not.toBe(signing.kid);
    expect(before).toMatchObject({ kid: signing.kid, key_ops: ['verify'] });
    expect(before.d).toBeUndefined();
    expect(oldest).toEqual(old);

    const retired = await change(directory, '--retire');
    expect(readKeys(directory)).toEqual([next]);
    expect(retired.err).toContain(`The key ${signing.kid} was removed.`);
    expect(retired.out).toBe('');
    expect(readdirSync(directory)).toEqual(['keys.json']);
  });

  test('a standby key verifies until --rotate lets it sign', async () => {
    const directory = temporaryDirectory();
    writeFileSync(fileOf(directory), JSON.stringify([await makeSigningKey()]), { mode: 0o644 });
    const { out } = await change(directory, '--standby');
    expect(out).toBe('');
    const [standby, signing] = readKeys(directory) as [JsonWebKeyMember, JsonWebKeyMember];
    expect([standby.key_ops, signing.key_ops]).toEqual([['verify'], ['sign', 'verify']]);
    expect((await change(directory, '--standby')).err).toContain('There is a standby key already.');
    await change(directory, '--rotate');
    expect(readKeys(directory).map(({ kid, key_ops }) => [kid, key_ops])).toEqual([
      [standby.kid, ['sign', 'verify']],
      [signing.kid, ['verify']],
    ]);
    expect(statSync(fileOf(directory)).mode & 0o777).toBe(0o600);
  });

  test('a file keeps its owner and its group, so that a service can read what root has changed', async () => {
    const directory = temporaryDirectory();
    const file = fileOf(directory);
    writeFileSync(file, JSON.stringify([await makeSigningKey()]));
    // Without root, there are no others to give it to.
    const [user, group] = process.getuid!() === 0 ? [12_345, 23_456] : [process.getuid!(), process.getgid!()];
    chownSync(file, user, group);
    for (const mode of [0o640, 0o600]) {
      chmodSync(file, mode);
      await change(directory, '--rotate');
      const { uid, gid, mode: after } = statSync(file);
      expect([uid, gid, after & 0o777]).toEqual([user, group, mode]);
    }
    expect(readKeys(directory)).toHaveLength(3);
  });

  test('a link to the file stays one, and a folder that cannot be written leaves the file as it was', async () => {
    const [directory, elsewhere] = [temporaryDirectory(), temporaryDirectory()];
    writeFileSync(fileOf(elsewhere), JSON.stringify([await makeSigningKey()]));
    symlinkSync(fileOf(elsewhere), fileOf(directory));
    await change(directory, '--rotate');
    expect(lstatSync(fileOf(directory)).isSymbolicLink()).toBe(true);
    expect(readKeys(elsewhere)).toHaveLength(2);
    const { code, err } = await runCommand(
      ['keys', '--rotate', '--jwt-keys', 'keys.json', '--out', 'nowhere/keys.json'],
      { directory },
    );
    expect([code, err]).toEqual([1, expect.stringContaining('nowhere/keys.json" cannot be written (ENOENT)')]);
  });
});

test('the steps of the studio for a shared secret: a file, then the next key signs, then the secret is no key any more', async () => {
  const directory = temporaryDirectory();
  const env = { PGREFLECT_JWT_SECRET: secret };
  const step = async (...args: string[]) => {
    expect(await runCommand(['keys', ...args], { directory, env })).toMatchObject({ code: 0 });
    return (JSON.parse(readFileSync(join(directory, 'keys.json'), 'utf8')) as JsonWebKeyMember[]).map(
      ({ k, key_ops }) => [k === Buffer.from(secret).toString('base64url'), key_ops],
    );
  };
  const [signs, verifies] = [['sign', 'verify'], ['verify']];
  expect(await step('--standby', '--out', 'keys.json')).toEqual([
    [false, verifies],
    [true, signs],
  ]);
  // In the same shell, which has the secret.
  expect((await step('--rotate', '--jwt-keys', 'keys.json')).slice(0, 2)).toEqual([
    [false, signs],
    [true, verifies],
  ]);
  expect(await step('--retire', '--jwt-keys', 'keys.json')).toEqual([[false, signs]]);
});

test('keys that are no file are printed, and a secret stays a secret', async () => {
  const { out } = await runCommand(['keys', '--rotate'], { env: { PGREFLECT_JWT_SECRET: secret } });
  const keys = JSON.parse(linesOf(out).PGREFLECT_JWT_KEYS ?? '') as JsonWebKeyMember[];
  expect(keys.map(({ kty, alg, key_ops }) => [kty, alg, key_ops])).toEqual([
    ['oct', 'HS256', ['sign', 'verify']],
    ['oct', 'HS256', ['verify']],
  ]);
  const again = await runCommand(['keys', '--rotate'], { env: { PGREFLECT_JWT_KEYS: JSON.stringify(keys) } });
  expect(JSON.parse(linesOf(again.out).PGREFLECT_JWT_KEYS ?? '')).toHaveLength(3);
});
