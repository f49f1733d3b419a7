/** Commands that the studio shows for a project of `pgreflect start` work in any terminal of the machine, as they are. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { shellCall } from '../../src/cli/shared/shell-call.ts';
import { sqlTokenCommand, tokenCommand } from '../../src/studio/app/shared/token-commands.ts';
import { sources } from '../support/bundle-programs.ts';
import { runCommand, temporaryDirectory } from './run-command.ts';
import { addressesIn, start } from './start-project.ts';

/** The programs of a person's shell: Node, and no `pgreflect`. */
const path = `${dirname(process.execPath)}:/usr/bin:/bin`;

/** What a command that is pasted into a new terminal prints. */
const paste = (command: string): string =>
  execFileSync('sh', ['-c', command], {
    cwd: '/',
    encoding: 'utf8',
    env: { PATH: path },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

test('a command begins with the name alone where a shell finds this program, with npx in a folder that has it, and with its path elsewhere', () => {
  const directory = temporaryDirectory();
  const [bin, local] = [join(directory, 'bin'), join(directory, 'node_modules/.bin')];
  mkdirSync(bin);
  mkdirSync(local, { recursive: true });
  const call = (folder: string, ...places: string[]) => shellCall(folder, places.join(':'));
  expect(call(directory, bin, path)).toBe(`cd ${directory} && node ${sources.launcher}`);
  symlinkSync(sources.launcher, join(bin, 'pgreflect'));
  expect(call(directory, path, bin)).toBe(`cd ${directory} && pgreflect`);
  symlinkSync(sources.launcher, join(local, 'pgreflect'));
  expect(call(directory, path)).toBe(`cd ${directory} && npx pgreflect`);
  // npm adds such a folder for its own programs alone.
  expect(call(dirname(dirname(sources.launcher)), local)).toBe(
    `cd ${dirname(dirname(sources.launcher))} && node bin/pgreflect.js`,
  );
  expect(call("/home/ada/it's mine")).toBe(`cd '/home/ada/it'\\''s mine' && node ${sources.launcher}`);
});

test('commands for a local project are told on its machine, and make a token that runs SQL, and keys that replace each other', async () => {
  const directory = join(temporaryDirectory(), "Ada's shop");
  mkdirSync(directory);
  const mail = { PGREFLECT_SMTP_HOST: '127.0.0.1', PGREFLECT_SMTP_ADMIN_EMAIL: 'shop@mail.test' };
  const project = await start(directory, ['--empty'], mail);
  expect(project.command.text()).toContain('  Emails       the mail server (smtp_host) sends them\n');
  expect(project.command.text()).not.toContain('/studio/inbox');
  const origin = project.url.replace('/graphql/v1', '');
  const entry = async (headers: Readonly<Record<string, string>> = {}) =>
    (await (await fetch(`${origin}/studio/entry`, { headers })).json()) as {
      isLocal: boolean;
      shellCall: string | null;
    };
  expect(await entry({ 'x-forwarded-for': '192.0.2.1' })).toEqual({ isLocal: true, shellCall: null });
  const { shellCall: call } = await entry();

  const made = (text: string): string => paste(text.replace('pgreflect', () => call ?? '')).trim();
  const token = made(sqlTokenCommand(new Date(Date.now() + 86_400_000).toISOString()));
  const [, , , accessToken = ''] = addressesIn(project.command.text());
  const about = async (bearer: string) =>
    (await (await fetch(`${origin}/studio/project`, { headers: { authorization: `Bearer ${bearer}` } })).json()) as {
      ref: string;
      shellCall: string;
    };
  const { ref, shellCall: told } = await about(accessToken);
  expect(told).toBe(call);
  expect(await about(made(tokenCommand))).toMatchObject({ ref });
  const ran = await fetch(`${origin}/v1/projects/${ref}/database/statements`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ statements: 'create table note (id int primary key)' }),
  });
  expect(ran.status, await ran.text()).toBe(200);

  const answers = async (apikey: string) =>
    (
      await fetch(project.url, {
        method: 'POST',
        headers: { apikey, 'content-type': 'application/json' },
        body: '{"query":"{ __typename }"}',
      })
    ).status;
  const [, next = ''] = /PGREFLECT_ANON_KEY=(.*)/.exec(paste(`${call} keys --rotate`)) ?? [];
  expect(next).not.toBe(project.key);
  await expect.poll(() => answers(next), { timeout: 30_000 }).toBe(200);
  await project.command.until(/Reloaded: .*jwt_keys/);
  expect(await answers(project.key)).toBe(200);
  type Told = { signing: { from: string; keys: { state: string; signedUntil: string | null }[] } };
  const { signing } = (await about(accessToken)) as unknown as Told;
  expect([signing.from, signing.keys.map(({ state, signedUntil }) => [state, signedUntil === null])]).toEqual([
    'project',
    [
      ['signs', true],
      ['verifies', false],
    ],
  ]);
  expect(Object.keys(signing.keys[0]!).sort()).toEqual(['algorithm', 'id', 'signedUntil', 'state']);
  // As long as the running project lets them live.
  await fetch(`${origin}/v1/projects/${ref}/config/auth`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
    body: '{"jwt_exp": 86400}',
  });
  const early = paste(`${call} keys --retire 2>&1 || true`);
  const [, end = ''] = /signed can be in use until (\S+ \S+) UTC/.exec(early) ?? [early];
  expect(Date.parse(`${end.replace(' ', 'T')}Z`)).toBeGreaterThan(Date.now() + 80_000_000);
  paste(`${call} keys --retire --force`);
  await expect.poll(() => answers(project.key), { timeout: 30_000 }).toBe(401);
  expect(await answers(next)).toBe(200);
  await project.stop();

  const again = await start(directory);
  expect(again.key).toBe(next);
  expect(await again.ask('{ __typename }')).toEqual({ data: { __typename: 'Query' } });
});

test('a directory without a project has no key to rotate, and a project that others may read is left alone', async () => {
  const directory = temporaryDirectory();
  const nothing = await runCommand(['keys', '--rotate'], { directory });
  expect([nothing.code, nothing.err]).toEqual([1, expect.stringContaining('There is no key to rotate.')]);
  mkdirSync(join(directory, '.pgreflect'));
  execFileSync('sh', ['-c', 'echo "{}" > .pgreflect/project.json'], { cwd: directory });
  chmodSync(join(directory, '.pgreflect/project.json'), 0o644);
  const open = await runCommand(['keys', '--rotate'], { directory });
  expect([open.code, open.err]).toEqual([1, expect.stringContaining('Other users may read')]);
});
