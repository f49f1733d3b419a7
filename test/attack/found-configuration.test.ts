/**
 * A `pgreflect.toml` that came with a repository, in the folder where the developer starts the gateway. The promise: no
 * variable of the environment and no file outside the folder gets into the configuration, and with it to an address
 * that the file names. `--config` allows both.
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadServeOptions } from '../../src/config/load-config.ts';

let outside: string;
let folder: string;

beforeEach(() => {
  outside = mkdtempSync(join(tmpdir(), 'found-'));
  folder = join(outside, 'repository');
  mkdirSync(folder);
  writeFileSync(join(outside, 'credentials'), 'the cloud key of the developer');
  writeFileSync(join(outside, 'keys.json'), '[]');
});
afterEach(() => rmSync(outside, { recursive: true }));

function load(toml: string, named = false, environment: Record<string, string> = {}) {
  writeFileSync(join(folder, 'pgreflect.toml'), toml);
  const cloud = { AWS_SECRET_ACCESS_KEY: 'the cloud key of the developer' };
  const { auth, allProblems } = loadServeOptions({
    flags: new Map(),
    authFlags: new Map(),
    problems: [],
    workingDirectory: folder,
    configFile: named ? 'pgreflect.toml' : null,
    environment: {
      ...cloud,
      DATABASE_URL: 'postgresql://x@db/x',
      PGREFLECT_JWT_SECRET: 'x'.repeat(32),
      ...environment,
    },
  });
  return { auth, problems: allProblems.map(({ problem }) => problem) };
}

const goOn = 'if you trust the file, add --config pgreflect.toml (or set PGREFLECT_CONFIG).';
const captcha = `[auth.captcha]
enabled = true
secret = "env(AWS_SECRET_ACCESS_KEY)"
`;

test('a configuration that is found gets no variable, and the problem says how to go on', () => {
  const { auth, problems } = load(`${captcha}\n[auth]\nadditional_redirect_urls = ["env(AWS_SECRET_ACCESS_KEY)"]\n`);
  expect(JSON.stringify([auth, problems])).not.toContain('the cloud key');
  expect(problems.filter((problem) => problem.includes('AWS_SECRET_ACCESS_KEY'))).toEqual([
    expect.stringContaining('pgreflect.toml: auth.captcha.secret names the variable'),
    expect.stringContaining('pgreflect.toml: auth.additional_redirect_urls names the variable'),
  ]);
  expect(problems.every((problem) => !problem.includes('names the variable') || problem.endsWith(goOn))).toBe(true);
});

test('with --config or PGREFLECT_CONFIG it gets it', () => {
  for (const { auth, problems } of [
    load(captcha, true),
    load(captcha, false, { PGREFLECT_CONFIG: 'pgreflect.toml' }),
  ]) {
    expect([problems, auth.given.security_captcha_secret]).toEqual([[], 'the cloud key of the developer']);
  }
});

test('a variable of a feature that is off is no problem', () => {
  expect(load(captcha.replace('true', 'false')).problems).toEqual([]);
});

const template = (path: string) => `[auth.email.template.recovery]\ncontent_path = "${path}"\n`;

test('a configuration that is found reads no file outside its folder, by whatever way', () => {
  symlinkSync(outside, join(folder, 'emails'));
  symlinkSync(join(outside, 'credentials'), join(folder, 'recovery.html'));
  for (const path of ['../credentials', join(outside, 'credentials'), 'emails/credentials', './recovery.html']) {
    const { auth, problems } = load(template(path));
    expect([auth.templates, problems]).toEqual([
      {},
      [`pgreflect.toml: auth.email.template.recovery.content_path leads out of the folder of pgreflect.toml; ${goOn}`],
    ]);
    expect(load(template(path), true).problems).toEqual([]);
  }
  for (const key of ['jwt_keys', 'jwks']) {
    const { problems } = load(`${key} = "../keys.json"\n`);
    expect(problems).toEqual([`pgreflect.toml: ${key} names a file outside the folder of pgreflect.toml; ${goOn}`]);
  }
});

test('a configuration that is found reads files of its folder', () => {
  mkdirSync(join(folder, 'supabase'));
  writeFileSync(join(folder, 'recovery.html'), '<p></p>');
  writeFileSync(join(folder, 'supabase', 'own.html'), '<p></p>');
  for (const path of ['recovery.html', './own.html', 'not-there.html', '..not-there.html']) {
    const { auth, problems } = load(template(path));
    expect([Object.keys(auth.templates), problems]).toEqual([['recovery'], []]);
  }
});
