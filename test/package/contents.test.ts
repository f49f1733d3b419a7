/**
 * What is published. That it works where it is installed is shown at night, by package.nightly.test.ts.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../commands/run-command.ts';
import { pathOfPerson } from '../support/install-packages.ts';

const root = join(import.meta.dirname, '../..');

test('the package holds SQL, examples and documents, all that its pages link to, and neither source nor tests', () => {
  const options = ['pack', '--dry-run', '--ignore-scripts', '--json', '--silent'];
  const output = execFileSync('npm', options, { cwd: root, encoding: 'utf8', shell: process.platform === 'win32' });
  const [packed] = JSON.parse(output) as [{ files: { path: string }[] }];
  const paths = packed.files.map(({ path }) => path);
  for (const expected of ['bin/pgreflect.js', 'examples/shop/schema.sql', 'README.md', 'LICENSE', 'CHANGELOG.md'])
    expect(paths).toContain(expected);
  expect(paths.some((entry) => entry.startsWith('sql/'))).toBe(true);
  expect(paths.filter((entry) => /^(src|test)\/|node_modules/.test(entry))).toEqual([]);
  const pages = paths.filter((path) => path.endsWith('.md'));
  const links = pages.flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, to]) => ({
      page,
      to: posix.join(posix.dirname(page), to!).replace(/\/$/, ''),
    })),
  );
  expect(links.filter(({ page }) => page === 'README.md').length).toBeGreaterThan(10);
  expect(links.filter(({ to }) => !paths.some((path) => path === to || path.startsWith(`${to}/`)))).toEqual([]);
});

test('with the studio come the licenses of what is bundled into it, scripts and fonts', () => {
  const licenses = readFileSync(join(root, 'dist/studio-app/licenses.md'), 'utf8');
  for (const name of [
    'react',
    'graphiql',
    'codemirror',
    'graphql',
    'd3-zoom',
    'sql-formatter',
    '@fontsource/fira-code',
  ])
    expect(licenses).toMatch(new RegExp(`^## .*${name}`, 'm'));
  const sections = licenses.split(/^## /m).slice(1);
  expect(sections.filter((section) => !/copyright/i.test(section) || section.length < 500)).toEqual([]);
  const names = sections.map((section) => section.split(' ')[0]);
  expect(names).toEqual([...new Set(names)]);
  expect(licenses).toContain('SIL OPEN FONT LICENSE Version 1.1');
  expect(licenses).toContain('Permission is hereby granted, free of charge');
});

test('npx pgreflect and npm start in a clone say what to install; then npx pgreflect runs without a build', () => {
  const clone = temporaryDirectory();
  for (const path of ['bin', 'src', 'sql', 'package.json'])
    cpSync(join(root, path), join(clone, path), { recursive: true });
  const { HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  // A Node that is too old finds the one of the packages.
  const env = { PATH: pathOfPerson(), HOME, NODE_COMPILE_CACHE };
  const run = (program: string, ...options: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(program, options, { cwd: clone, env, encoding: 'utf8' });
    return { status, stdout, stderr };
  };
  const keys = ['--offline', 'pgreflect', 'keys', '--jwt-secret', 'a secret of more than thirty-two characters'];
  const refusal = { status: 1, stderr: expect.stringContaining('Install them with:   npm ci') };
  expect(run('npx', ...keys)).toMatchObject(refusal);
  expect(run('npm', 'start')).toMatchObject(refusal);
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  const printed = { status: 0, stdout: expect.stringContaining('PGREFLECT_ANON_KEY=eyJ') };
  expect(run('npx', ...keys)).toMatchObject(printed);
});
