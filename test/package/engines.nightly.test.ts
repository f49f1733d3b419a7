/**
 * The packed package on the versions of Node that it names, and what it tells on one that is too old. Each Node is that of the npm
 * package `node`; npm is that of the machine, or the first that runs no install scripts.
 */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { findFreePort } from '../support/free-port.ts';
import { pathOfPerson } from '../support/install-packages.ts';
import { copyCheckout, openFolder, root, startLines, type Terminal, typeLines } from './person.ts';
import { familyOf, startFamily, untilGone } from './process-family.ts';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const folder = openFolder((end) => void afterAll(end));
const clone = join(folder, 'pgreflect');

beforeAll(async () => {
  mkdirSync(clone);
  copyCheckout(clone);
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  await typeLines('npm pack', { directory: clone, environment: {}, instead: {} });
});

/** A folder with packages of its own, and the programs of some Node, with the npm of the machine or another one. */
async function withNode(version: string, name = version, ...npm: readonly string[]): Promise<Terminal> {
  // An npm that asks which packages may run scripts is told.
  const programs = emptyProject(`node-${name}`, { allowScripts: { node: true } });
  await typeLines(`npm i ${[`node@${version}`, ...npm].join(' ')}`, {
    directory: programs,
    environment: {},
    instead: {},
  });
  const directory = emptyProject(`app-${name}`);
  const environment = { PATH: `${join(programs, 'node_modules/.bin')}:${pathOfPerson()}` };
  expect(await typeLines('node --version', { directory, environment, instead: {} })).toBe(`v${version}\n`);
  return { directory, environment, instead: {} };
}

function emptyProject(name: string, settings: object = {}): string {
  const directory = join(folder, name);
  mkdirSync(directory);
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ private: true, ...settings }));
  return directory;
}

const { engines, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly engines: { readonly node: string };
  readonly version: string;
};
const named = engines.node.match(/\d+\.\d+\.\d+/g) ?? [];
const install = join(clone, `pgreflect-${version}.tgz`);

test.each([
  [named[0]!, []],
  // Runs no install scripts of packages that nobody has named.
  [named.at(-1)!, ['npm@12.2.0']],
])('on Node %s npm installs the package strictly, and it serves', async (node, npm) => {
  const terminal = await withNode(node, node, ...npm);
  await typeLines(`npm i --engine-strict ${install}`, terminal);
  const port = await findFreePort();
  const start = startLines(`npx pgreflect start --port ${port}`, terminal);
  const [, key = ''] = await start.until(/anon key +(eyJ\S+)/);
  const response = await fetch(`http://localhost:${port}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: key, 'content-type': 'application/json' },
    body: '{"query": "{ __typename }"}',
  });
  expect(await response.json()).toEqual({ data: { __typename: 'Query' } });
  await start.interrupt();
});

// The last Node that cannot become another program, and the first that can.
describe.each(['20.20.2', named[0]!])('on Node %s', (node) => {
  let terminal: Terminal;
  beforeAll(async () => {
    terminal = await withNode(node, `${node}-killed`);
    await typeLines(`npm i ${install}`, terminal);
  });

  test.each([
    ['command', 'SIGKILL', ['node_modules/.bin/pgreflect', 'start']],
    ['gateway', 'SIGKILL', ['node_modules/.bin/pgreflect', 'start']],
    ['command', 'SIGINT', ['node_modules/.bin/pgreflect', 'start']],
    ['command', 'SIGKILL', ['npx', 'pgreflect', 'start']],
    ['command', 'SIGTERM', ['npx', 'pgreflect', 'start']],
    ['terminal', 'SIGINT', ['npx', 'pgreflect', 'start']],
    ['command', 'SIGKILL', ['npm', 'start', '--']],
    ['gateway', 'SIGKILL', ['npm', 'start', '--']],
    ['command', 'SIGTERM', ['npm', 'start', '--']],
  ] as const)('the %s gets %s, and nothing of %j is left', async (victim, signal, words) => {
    const directory = words[0] === 'npm' ? clone : terminal.directory;
    const environment = { PATH: terminal.environment.PATH! };
    const { pid, ended, gateway } = await startFamily([...words, '--empty', '--port', '0'], { directory, environment });
    const family = familyOf(pid);
    expect(family.some(({ command }) => command.includes('postgres'))).toBe(true);
    // Ctrl-C reaches each process of the terminal. Of a SIGINT to npm alone, a shell in between tells nobody.
    process.kill({ terminal: -pid, command: pid, gateway: gateway() }[victim], signal);
    await ended;
    await untilGone(family);
  });
});

test('on a Node that is too old, without the one it comes with, it says what to do, and that helps', async () => {
  const old = '18.20.8';
  const terminal = await withNode(old);
  const needed = `pgreflect needs Node 24.5 or newer; this is v${old}.\nInstall Node 24 and run the same command again.\n`;
  const refused = (words: string, where = terminal) => typeLines(`${words} 2>&1 || echo "ended with $?"`, where);

  const checkout = { ...terminal, directory: join(folder, 'checkout') };
  mkdirSync(checkout.directory);
  copyCheckout(checkout.directory);
  const check = 'node bin/check-runtime.js';
  const missing = 'The packages of this checkout are not installed. Install them with:   npm ci\n';
  expect(await refused(check, checkout)).toBe(`${missing}ended with 1\n`);
  mkdirSync(join(checkout.directory, 'node_modules'));
  expect((await refused(check, checkout)).trim()).toBe(`${needed}ended with 1`);

  // This npm itself needs a newer Node than that.
  const npm = { ...terminal, environment: {} };
  await typeLines(`npm i --ignore-scripts ${install}`, npm);
  const ask = 'node node_modules/pgreflect/bin/pgreflect.js --version';
  const answer = await refused(ask);
  expect([answer.startsWith(needed), answer.endsWith('\nended with 1\n')], answer).toEqual([true, true]);
  const [, advice = ''] = /^ {2}(.+)$/m.exec(answer) ?? [];
  await typeLines(advice, npm);
  expect(await typeLines(ask, terminal)).toBe(`${version}\n`);
});
