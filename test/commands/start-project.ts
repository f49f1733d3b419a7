/** A local project that `pgreflect start` runs in a process of its own. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WhenOver } from '../support/when-over.ts';
import { startCommand } from './run-command.ts';

/** Starts it, and waits until it says how to ask. */
export async function start(
  directory: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  whenOver?: WhenOver,
) {
  const port = args.includes('--port') ? [] : ['--port', '0'];
  const command = startCommand(['start', ...port, ...args], { directory, env }, whenOver);
  await command.until(/curl .*/);
  const [, url = ''] = /GraphQL +([^\s\\]+)/.exec(command.text()) ?? [];
  const [, key = ''] = /anon key +([^\s\\]+)/.exec(command.text()) ?? [];
  const ask = async (query: string): Promise<{ data: Record<string, unknown> }> => {
    const headers = { apiKey: key, 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
    return (await response.json()) as { data: Record<string, unknown> };
  };
  const stop = async () => {
    command.signal('SIGTERM');
    return (await command.finished).code;
  };
  return { command, url, key, ask, stop };
}

/** Runs a line of `psql` that a start has printed, in its directory. In place of psql, which the tests need not have. */
export function runPsql(directory: string, line: string): void {
  const psql = `#!/bin/sh\nexec '${process.execPath}' -e '
    const { Client } = require("${join(import.meta.dirname, '../../node_modules/pg')}");
    const client = new Client({ connectionString: process.argv[1] });
    client.connect().then(() => client.query(process.argv[3])).then(() => client.end());
  ' "$@"\n`;
  writeFileSync(join(directory, 'psql'), psql, { mode: 0o755 });
  const env = { ...process.env, PATH: `${directory}:${process.env.PATH}` };
  execFileSync('sh', ['-c', line], { cwd: directory, env });
}

/** What the start says of its connection, keys and token. */
export const addressesIn = (text: string) =>
  ['Database', 'anon key', 'service key', 'access token'].map(
    (name) => new RegExp(`^  ${name} +(\\S+)`, 'm').exec(text)?.[1],
  );
