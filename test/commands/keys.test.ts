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
import { loadProject, projectDirectory, readProject } from '../../src/cli/shared/local-project.ts';
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

  test.each(['a file', 'a project'])(
    'of two who rotate the keys of %s at once, none is told that a key signs which the other has removed',
    async (of) => {
      const directory = temporaryDirectory();
      const project = projectDirectory(directory);
      const roles = { anonRole: 'anon', serviceRole: 'service_role' };
      if (of === 'a project') await loadProject(project, roles);
      else writeFileSync(fileOf(directory), JSON.stringify([await makeSigningKey()]), { mode: 0o600 });
      const rotate = () =>
        of === 'a project'
          ? runCommand(['keys', '--rotate', '--asymmetric'], { directory })
          : change(directory, '--rotate');
      const ends = await Promise.all([rotate(), rotate()]);
      const keys = of === 'a project' ? (readProject(project)?.jwtKeys ?? []) : readKeys(directory);
      const done = ends.filter(({ code }) => code === 0);
      expect(done).not.toEqual([]);
      for (const { out } of done)
        expect(keys.map(({ kid }) => kid)).toContain(decodeProtectedHeader(linesOf(out).PGREFLECT_ANON_KEY ?? '').kid);
      for (const { code, err } of ends) expect(err.includes('has changed since')).toBe(code !== 0);
    },
  );

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
      signed_until: expect.any(String),
    });
    expect(decodeProtectedHeader(linesOf(begun.out).PGREFLECT_ANON_KEY ?? '').kid).toBe(signing.kid);

    await change(directory, '--rotate');
    const [next, before, oldest] = readKeys(directory) as [JsonWebKeyMember, JsonWebKeyMember, JsonWebKeyMember];
    expect(next.kid).not.toBe(signing.kid);
    expect(before).toMatchObject({ kid: signing.kid, key_ops: ['verify'] });
    expect(before.d).toBeUndefined();
    expect(oldest).toEqual(old);

    const retired = await change(directory, '--retire', '--force');
    expect(readKeys(directory)).toEqual([next]);
    expect(retired.err).toContain(
      `The key ${signing.kid} was removed. Access tokens and API keys that it signed are refused from now on.`,
    );
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

  test('--retire waits for the last access token that an old key signed, as far as the file and the lifetime tell', async () => {
    const directory = temporaryDirectory();
    writeFileSync(fileOf(directory), JSON.stringify([await makeSigningKey()]));
    const rotated = await change(directory, '--rotate');
    const [, old] = readKeys(directory) as [JsonWebKeyMember, JsonWebKeyMember];
    const at = Date.parse(String(old.signed_until));
    expect(Math.abs(Date.now() - at)).toBeLessThan(60_000);
    const end = new Date(at + 3610_000).toISOString().slice(11, 19);
    expect(rotated.err).toContain(`The last access token that it signed expires at`);
    expect(rotated.err).toContain(`${end} UTC; API keys that it signed are good until it is retired.`);
    const text = readFileSync(fileOf(directory), 'utf8');
    const early = await change(directory, '--retire');
    expect([early.code, early.err]).toEqual([
      1,
      expect.stringContaining(`the key ${old.kid} signed can be in use until`),
    ]);
    expect(readFileSync(fileOf(directory), 'utf8')).toBe(text);

    const rotatedAgo = (seconds: number) => {
      const signed_until = new Date(Date.now() - seconds * 1000).toISOString();
      writeFileSync(fileOf(directory), JSON.stringify([readKeys(directory)[0], { ...old, signed_until }]));
    };
    const retire = (env: Readonly<Record<string, string>>) =>
      runCommand(['keys', '--retire', '--jwt-keys', 'keys.json'], { directory, env });
    rotatedAgo(4000);
    expect((await retire({ PGREFLECT_JWT_EXP: '7200' })).code).toBe(1);
    expect((await retire({})).code).toBe(0);
    expect(readKeys(directory)).toHaveLength(1);
    expect((await retire({})).err).toContain('There is no earlier key: nothing has changed.');
    expect((await change(directory, '--rotate', '--force')).err).toContain('--force is for --retire.');
  });

  test('who may write the folder and cannot keep the owner of the file changes nothing, and is told who can', async () => {
    // Only root can be somebody else.
    if (process.getuid!() !== 0) return;
    const directory = temporaryDirectory();
    chmodSync(directory, 0o777);
    const file = fileOf(directory);
    writeFileSync(file, JSON.stringify([await makeSigningKey()]), { mode: 0o644 });
    // Loads the command, which the others may not read.
    await change(directory, '--rotate');
    chmodSync(file, 0o644);
    chownSync(file, 12_345, 23_456);
    const as = async (user: number) => {
      const groups = process.getgroups!();
      process.setgroups!([]);
      process.setegid!(user);
      process.seteuid!(user);
      try {
        return await change(directory, '--rotate');
      } finally {
        process.seteuid!(0);
        process.setegid!(0);
        process.setgroups!(groups);
      }
    };
    const text = readFileSync(file, 'utf8');
    const stranger = await as(54_321);
    expect([stranger.code, stranger.out]).toEqual([1, '']);
    expect(stranger.err).toContain('keys.json" belongs to user 12345, and only root may give it a new file.');
    expect([readFileSync(file, 'utf8'), readdirSync(directory)]).toEqual([text, ['keys.json']]);

    chmodSync(file, 0o640);
    expect((await as(12_345)).err).toContain('keys.json" belongs to its group (23456)');
    expect(readdirSync(directory)).toEqual(['keys.json']);
    chmodSync(file, 0o600);
    expect((await as(12_345)).code).toBe(0);
    expect([statSync(file).uid, statSync(file).mode & 0o777]).toEqual([12_345, 0o600]);
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
  // The same command again has another new key, and none of those that are in use by now.
  const before = readFileSync(join(directory, 'keys.json'), 'utf8');
  const again = await runCommand(['keys', '--standby', '--out', 'keys.json'], { directory, env });
  expect(again).toMatchObject({ code: 1, err: expect.stringContaining('/keys.json" exists already') });
  expect(readFileSync(join(directory, 'keys.json'), 'utf8')).toBe(before);
  // In the same shell, which has the secret.
  expect((await step('--rotate', '--jwt-keys', 'keys.json')).slice(0, 2)).toEqual([
    [false, signs],
    [true, verifies],
  ]);
  expect(await step('--retire', '--force', '--jwt-keys', 'keys.json')).toEqual([[false, signs]]);
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
