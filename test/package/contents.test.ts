/**
 * What is published. That it works where it is installed is shown at night, by package.nightly.test.ts.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

test('the package holds SQL, examples and documents, and neither source nor tests', () => {
  const options = ['pack', '--dry-run', '--ignore-scripts', '--json', '--silent'];
  const output = execFileSync('npm', options, { cwd: root, encoding: 'utf8', shell: process.platform === 'win32' });
  const [packed] = JSON.parse(output) as [{ files: { path: string }[] }];
  const paths = packed.files.map(({ path }) => path);
  for (const expected of ['bin/pgreflect.js', 'examples/shop/schema.sql', 'README.md', 'LICENSE', 'CHANGELOG.md'])
    expect(paths).toContain(expected);
  expect(paths.some((entry) => entry.startsWith('sql/'))).toBe(true);
  expect(paths.filter((entry) => /^(src|test)\//.test(entry))).toEqual([]);
});

test('with the studio come the licenses of what is bundled into it, scripts and fonts', () => {
  const licenses = readFileSync(join(root, 'dist/studio/licenses.md'), 'utf8');
  for (const name of [
    'react',
    'graphiql',
    'monaco-editor',
    'graphql',
    'd3-zoom',
    'sql-formatter',
    '@fontsource/fira-code',
  ])
    expect(licenses).toMatch(new RegExp(`^## .*${name}`, 'm'));
  expect(licenses).toContain('SIL OPEN FONT LICENSE Version 1.1');
  expect(licenses).toContain('Permission is hereby granted, free of charge');
});
