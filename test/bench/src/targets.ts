/**
 * The servers that are compared, and how each is asked for a case.
 */
import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { type BenchCase, cases, type Operation } from './cases.ts';
import type { BenchDatabase } from './database.ts';
import { postRequest } from './load.ts';
import { startTarget, type Target } from './processes.ts';

/** A running server and the bytes that ask it for a case: for each value the next of its operations. */
export interface Contestant {
  readonly target: Target;
  requests(benchCase: BenchCase, values: readonly number[]): Promise<Buffer[]>;
}

const secret = 'only-for-the-bench-only-for-the-bench';
const here = import.meta.dirname;
const main = join(here, '../../../dist/main.js');

/** Starts all of them but those left out, ours first, and checks that all give the same values for every case. */
export async function startContestants(
  db: BenchDatabase,
  poolSize: number,
  without: readonly string[],
): Promise<Contestant[]> {
  const databaseUrl = db.loginUrl;
  const env = { DATABASE_URL: databaseUrl, POOL_SIZE: String(poolSize) };
  const contestants: Contestant[] = [];
  if (!without.includes('pgreflect')) contestants.push(await startOurs(databaseUrl, poolSize));
  const own = (name: string) => ({
    name,
    arguments: [join(here, `${name}-server.ts`)],
    env,
    port: /listening (\d+)/,
  });
  if (!without.includes('postgraphile')) contestants.push(postgraphile(await startTarget(own('postgraphile'))));
  if (!without.includes('floor')) contestants.push(floor(await startTarget(own('floor'))));
  for (const benchCase of cases) await checkSameAnswer(db, contestants, benchCase);
  return contestants;
}

let started = 0;

/** Ours as it is installed, from the built package, but without a log line for each request, which the others do not write either. */
export async function startOurs(
  databaseUrl: string,
  poolSize: number,
  env: Readonly<Record<string, string>> = {},
): Promise<Contestant> {
  const port = 20_000 + ((process.pid + started++) % 20_000);
  const options = [
    'serve',
    '--port',
    String(port),
    '--pool-size',
    String(poolSize),
    '--log-level',
    'warn',
    '--log-format',
    'json',
    '--schemas',
    'public',
  ];
  const target = await startTarget({
    name: 'pgreflect',
    arguments: [main, ...options],
    env: { PGREFLECT_DATABASE_URL: databaseUrl, PGREFLECT_JWT_SECRET: secret, ...env },
    port,
  });
  await waitUntilReady(port);
  return {
    target,
    requests: async (benchCase, values) => requestsOfOurs(benchCase, values),
  };
}

/** Requests to the gateway, with the anon key. */
export function requestsOfOurs(benchCase: BenchCase, values: readonly number[]): Buffer[] {
  const cursor = deepCursor(benchCase);
  return inTurn(benchCase, values, ({ ours, variables }, n) =>
    ourRequest(ours, cursor === null ? variables(n) : { c: cursor }),
  );
}

/** One request to the gateway, with the anon key. */
export function ourRequest(query: string, variables: object): Buffer {
  return postRequest('/graphql/v1', { apikey: anonKey() }, JSON.stringify({ query, variables }));
}

function inTurn(
  { operations }: BenchCase,
  values: readonly number[],
  request: (operation: Operation, n: number, index: number) => Buffer,
): Buffer[] {
  return values.map((n, turn) => {
    const index = turn % operations.length;
    return request(operations[index] as Operation, n, index);
  });
}

async function waitUntilReady(port: number): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const ready = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => null);
    if (ready?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('pgreflect is not ready after 30 s');
}

function postgraphile(target: Target): Contestant {
  return {
    target,
    async requests(benchCase, values) {
      const { deepKey } = benchCase;
      const cursor = deepKey === undefined ? null : await askCursor(target.port, deepKey);
      return inTurn(benchCase, values, ({ postgraphile: query, variables, postgraphileVariables }, n) => {
        const given = cursor === null ? (postgraphileVariables ?? variables)(n) : { c: cursor };
        return postRequest('/graphql', {}, JSON.stringify({ query, variables: given }));
      });
    },
  };
}

/** PostGraphile's cursors are its own secret, so ask it for the one of the last row before the page. */
async function askCursor(port: number, key: number): Promise<string> {
  const query = `{ allPosts(first: 1, offset: ${key - 1}) { edges { cursor } } }`;
  const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const answer = (await response.json()) as { data: { allPosts: { edges: { cursor: string }[] } } };
  return answer.data.allPosts.edges[0]?.cursor ?? '';
}

function floor(target: Target): Contestant {
  return {
    target,
    requests: async (benchCase, values) =>
      inTurn(benchCase, values, ({ parameters }, n, index) =>
        postRequest('/', {}, JSON.stringify({ statement: `${benchCase.name} ${index}`, values: parameters(n) })),
      ),
  };
}

/** Ours is the Base64 of the JSON array of the order's values. */
function deepCursor({ deepKey }: BenchCase): string | null {
  return deepKey === undefined ? null : Buffer.from(JSON.stringify([deepKey])).toString('base64');
}

/** A token of the anon role, signed like any API key. */
export function anonKey(): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ role: 'anon', iss: 'pgreflect', iat: 1_700_000_000, exp: 4_000_000_000 })}`;
  return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`;
}

/** A fast wrong answer is worth nothing: compares the answers, with names of fields taken out where they differ. */
async function checkSameAnswer(db: BenchDatabase, contestants: readonly Contestant[], benchCase: BenchCase) {
  const answers: string[] = [];
  const values = benchCase.operations.map((_, index) => benchCase.values[index] ?? 1);
  for (const { target, requests } of contestants) {
    if (benchCase.refill) await db.run(benchCase.refill(10));
    const found = [];
    for (const request of await requests(benchCase, values)) {
      const { data, ...rest } = await ask(target.port, request);
      if (!data || 'errors' in rest)
        throw new Error(`${target.name}, ${benchCase.name}: ${JSON.stringify({ data, ...rest }).slice(0, 600)}`);
      found.push(leaves(data));
    }
    answers.push(JSON.stringify(found));
  }
  if (new Set(answers).size !== 1) {
    const shown = answers.map((answer, n) => `${contestants[n]?.target.name}: ${answer.slice(0, 300)}`);
    throw new Error(`Different answers for ${benchCase.name}:\n${shown.join('\n')}`);
  }
}

/** Sends the bytes of one request in the ordinary way. */
async function ask(port: number, request: Buffer): Promise<{ readonly data?: unknown }> {
  const [head = '', body = ''] = request.toString().split('\r\n\r\n');
  const path = head.split(' ')[1] ?? '/';
  const apikey = /apikey: (.*)/.exec(head)?.[1];
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(apikey === undefined ? {} : { apikey: apikey.trim() }) },
    body,
  });
  return (await response.json()) as { readonly data?: unknown };
}

/** Values in document order, without cursors and trailing zeros of seconds, which each server writes in its own way. */
function leaves(value: unknown): unknown[] {
  if (typeof value === 'string') return [value.replace(/(:\d\d)\.0+(?=\+)/, '$1')];
  if (value === null || typeof value !== 'object') return [value];
  return Object.entries(value)
    .filter(([key]) => key !== 'endCursor')
    .flatMap(([, inner]) => leaves(inner));
}
