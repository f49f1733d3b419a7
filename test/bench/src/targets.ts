/**
 * The servers that are compared, and how each is asked for a case.
 */
import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { findFreePort } from '../../../src/postgres/embedded/embedded-server.ts';
import { type BenchCase, cases, type Operation } from './cases.ts';
import type { BenchDatabase } from './database.ts';
import { leaves } from './leaves.ts';
import { postRequest } from './load.ts';
import { startTarget, type Target } from './processes.ts';
import { writeCases } from './write-cases.ts';

/** A running server and the bytes that ask it for a case: for each value the next of its operations. */
export interface Contestant {
  readonly target: Target;
  /** False for those who do the work of a case without answering it. */
  readonly answers: boolean;
  /** Whether it can be asked for the case at all. */
  takesPart(benchCase: BenchCase): boolean;
  requests(benchCase: BenchCase, values: readonly number[]): Promise<Buffer[]>;
}

/** The database, and how many connections each server has to it. */
export interface ContestantOptions {
  readonly databaseUrl: string;
  readonly poolSize: number;
  /** `public` unless told. */
  readonly schema?: string;
}

const secret = 'only-for-the-bench-only-for-the-bench';
const here = import.meta.dirname;
const checkout = join(here, '../../..');

/** How each server is started, in the order of the tables. */
const starters = {
  pgreflect: startOurs,
  // As many connections as the others have, shared by two processes.
  'pgreflect-2': (options) =>
    startOurs({ ...options, name: 'pgreflect-2', workers: 2, poolSize: Math.ceil(options.poolSize / 2) }),
  postgraphile: async (options) => postgraphile(await startPostgraphile(options)),
  baseline: async (options) => baseline(await startOwn('baseline', options)),
  bare: async (options) => bare(await startOwn('bare', options)),
  http: async (options) => http(await startOwn('http', options)),
} as const satisfies Record<string, (options: ContestantOptions) => Promise<Contestant>>;

/** The names of the servers. */
export type ContestantName = keyof typeof starters;

/** In the order of the tables. */
export const contestantNames = Object.keys(starters) as ContestantName[];

/** Starts servers one after the other. */
export async function startContestants(
  names: readonly ContestantName[],
  options: ContestantOptions,
): Promise<Contestant[]> {
  const contestants: Contestant[] = [];
  for (const name of names) contestants.push(await starters[name](options));
  return contestants;
}

function startOwn(name: string, { databaseUrl, poolSize, schema = 'public' }: ContestantOptions): Promise<Target> {
  return startTarget({
    name,
    arguments: [join(here, `${name}-server.ts`)],
    env: { DATABASE_URL: databaseUrl, POOL_SIZE: String(poolSize), SCHEMA: schema },
    port: /listening (\d+)/,
  });
}

/** PostGraphile alone. */
export function startPostgraphile(options: ContestantOptions): Promise<Target> {
  return startOwn('postgraphile', options);
}

/** How ours is started. */
export interface OursOptions extends ContestantOptions {
  readonly name?: string;
  /** The checkout that has been built; this one unless told. */
  readonly root?: string;
  readonly workers?: number;
  /** More options of `serve`. */
  readonly more?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Ours as it is installed, from the built package, but without a log line for each request, which the others do not write either. */
export async function startOurs(options: OursOptions): Promise<Contestant> {
  const target = await startGateway(options);
  await waitUntilReady(target);
  return {
    target,
    answers: true,
    takesPart: () => true,
    requests: async (benchCase, values) => requestsOfOurs(benchCase, values),
  };
}

/** Starts the gateway without waiting until it is ready. */
export async function startGateway({ databaseUrl, poolSize, ...options }: OursOptions): Promise<Target> {
  const { name = 'pgreflect', root = checkout, workers = 1, schema = 'public', more = [], env = {} } = options;
  const port = await findFreePort();
  return startTarget({
    name,
    arguments: [
      join(root, 'dist/main.js'),
      'serve',
      ...['--port', String(port), '--pool-size', String(poolSize), '--schemas', schema],
      ...['--log-level', 'warn', '--log-format', 'json'],
      ...(workers === 1 ? [] : ['--workers', String(workers)]),
      ...more,
    ],
    env: { PGREFLECT_DATABASE_URL: databaseUrl, PGREFLECT_JWT_SECRET: secret, ...env },
    port,
  });
}

/**
 * Requests to the gateway, with the anon key; writes are of users in turn, because one caller alone may have all connections
 * but two.
 */
export function requestsOfOurs(benchCase: BenchCase, values: readonly number[]): Buffer[] {
  const cursor = deepCursor(benchCase);
  const users = writeCases.includes(benchCase) ? writers() : [undefined];
  let turn = 0;
  return inTurn(benchCase, values, ({ ours, variables }, n) => {
    turn += 1;
    return ourRequest(ours, cursor === null ? variables(n) : { c: cursor }, users[turn % users.length]);
  });
}

/** Tokens of users whose role is that of the hand-written servers. */
function writers(): string[] {
  return Array.from({ length: 64 }, (_, user) => tokenOf({ role: 'anon', sub: `user ${user}` }));
}

/** One request to the gateway, with the anon key, and with a token where one is given. */
export function ourRequest(query: string, variables: object, token?: string): Buffer {
  const headers = { apikey: anonKey(), ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  return postRequest('/graphql/v1', headers, JSON.stringify({ query, variables }));
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

async function waitUntilReady({ name, port, failure }: Target): Promise<void> {
  const end = performance.now() + 60_000;
  while (performance.now() < end) {
    const ready = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => null);
    if (ready?.ok) return;
    const output = failure();
    if (output !== null) throw new Error(`${name} has ended:\n${output}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${name} is not ready after 60 s`);
}

function postgraphile(target: Target): Contestant {
  return {
    target,
    answers: true,
    takesPart: ({ operations }) => operations.every((operation) => operation.postgraphile !== null),
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

function baseline(target: Target): Contestant {
  return {
    target,
    answers: true,
    takesPart: () => true,
    requests: async (benchCase, values) =>
      inTurn(benchCase, values, ({ variables }, n, index) =>
        postRequest('/', {}, JSON.stringify({ statement: `${benchCase.name} ${index}`, variables: variables(n) })),
      ),
  };
}

/** Asked as the baseline is, for the cases that have rows to read. */
function bare(target: Target): Contestant {
  const takesPart = ({ operations }: BenchCase) => operations.every((operation) => operation.bare !== null);
  return { ...baseline(target), answers: false, takesPart };
}

/** Asked once, because every case would be the same to it. */
function http(target: Target): Contestant {
  return { ...baseline(target), answers: false, takesPart: ({ name }) => name === cases[0]?.name };
}

/** Ours is the Base64 of the JSON array of the order's values. */
function deepCursor({ deepKey }: BenchCase): string | null {
  return deepKey === undefined ? null : Buffer.from(JSON.stringify([deepKey])).toString('base64');
}

/** A token of the anon role, signed like any API key. */
export function anonKey(): string {
  return tokenOf({ role: 'anon' });
}

/** A token with these claims and a long life. */
export function tokenOf(claims: object): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ ...claims, iss: 'pgreflect', iat: 1_700_000_000, exp: 4_000_000_000 })}`;
  return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`;
}

/** A fast wrong answer is worth nothing: compares the answers, with names of fields taken out where they differ. */
export async function checkSameAnswers(
  db: BenchDatabase,
  contestants: readonly Contestant[],
  asked = cases,
): Promise<void> {
  const answering = contestants.filter(({ answers }) => answers);
  for (const benchCase of asked) {
    const taking = answering.filter(({ takesPart }) => takesPart(benchCase));
    await checkSameAnswer(db, taking, benchCase);
  }
}

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
