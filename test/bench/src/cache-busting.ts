/**
 * What a client costs the others that never sends the same thing twice: the gateway's memory and the statements that its
 * connections keep, after very many different requests of each kind; and how often a polite client finds its documents parsed
 * and its statements prepared, and how long it waits, with such a client beside it and without, in turns.
 */
import type { BenchDatabase } from './database.ts';
import { type LoadResult, runLoad } from './load.ts';
import { residentMib } from './processes.ts';
import { type Relay, startRelay } from './relay.ts';
import { anonKey, type OursOptions, ourRequest, startOurs, tokenOf } from './targets.ts';

/** One kind of requests; times in milliseconds, those of the polite client. */
export interface CacheBustingRow {
  readonly title: string;
  /** Requests sent as fast as they were answered. */
  readonly requests: number;
  /** Of the gateway, before and after them. */
  readonly beforeMib: number;
  readonly afterMib: number;
  /** Named statements of the connection that has most. */
  readonly statements: number;
  /** Shares of the polite client's requests for which all was at hand, alone and beside the other. */
  readonly aloneHitRate: number;
  readonly besideHitRate: number;
  readonly aloneP50Ms: number;
  readonly besideP50Ms: number;
  readonly aloneP99Ms: number;
  readonly besideP99Ms: number;
}

/** How much. */
export interface CacheBustingLoad {
  readonly requests: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly poolSize: number;
}

interface Kind {
  readonly title: string;
  /** Each of its requests is a document of its own. */
  readonly hasDocuments: boolean;
  /** The request of a number. */
  make(index: number): Buffer;
}

const node = (fields: string) => `query ($n: Int!) { postByPk(id: $n) { ${fields} } }`;
const filtered = 'query ($l: [PostFilter!]) { postCollection(first: 1, filter: {or: $l}) { edges { node { id } } } }';
const columns = ['id', 'accountId', 'title', 'score', 'publishedAt'];
const conditions = [{ is: 'NULL' }, { is: 'NOT_NULL' }];

/** A filter by the digits of a number to the base of three: a column is not asked for, or in one of two ways. */
function shape(index: number): object {
  const asked = columns.map((name, at) => [name, conditions[(Math.floor(index / 3 ** at) % 3) - 1]] as const);
  return Object.fromEntries(asked.filter(([, condition]) => condition !== undefined));
}

/** 243 filters of one member, as many of a second one, and of a third: fourteen million shapes. */
const shapes = (index: number) => [0, 1, 2].map((at) => shape(Math.floor(index / 243 ** at) % 243));

const kinds: readonly Kind[] = [
  { title: 'documents', hasDocuments: true, make: (index) => ourRequest(`${node('id title')} # ${index}`, { n: 1 }) },
  {
    title: 'aliases',
    hasDocuments: true,
    make: (index) => ourRequest(node(`a${index}: id b${index}: title`), { n: 1 }),
  },
  {
    title: 'operation names',
    hasDocuments: true,
    make: (index) => ourRequest(node('id title').replace('query', `query q${index}`), { n: 1 }),
  },
  { title: 'shapes of variables', hasDocuments: false, make: (index) => ourRequest(filtered, { l: shapes(index) }) },
  // A statement gets a name where it is seen again. From the end of the shapes, which the kind before does not reach.
  {
    title: 'shapes that come twice',
    hasDocuments: false,
    make: (index) => ourRequest(filtered, { l: shapes(243 ** 3 - 1 - Math.floor(index / 2)) }),
  },
  {
    title: 'tokens',
    hasDocuments: false,
    make: (index) => ourRequest(node('id title'), { n: 1 }, tokenOf({ role: 'anon', sub: String(index) })),
  },
];

/** The polite client: twenty operations, over and over, 500 requests a second. */
const polite = Array.from({ length: 20 }, (_, index) =>
  ourRequest(`query ($n: Int!) { accountByPk(id: $n) { id name a${index}: mail } }`, { n: index + 1 }),
);
const politeLoad = { requests: polite, sockets: 2, everyMs: 4 };
/** Its table, as it stands in its statements and in no others. */
const politeTable = '"account"';

/** Requests a second of the other, while the polite one is measured. */
const besidePerSecond = 100;
/** Sockets of the other, while nobody is measured, and what it sends between two looks at how many are left. */
const floodSockets = 16;
const floodSize = 5000;

const statementsFunction = `create or replace function public.prepared_statements() returns int stable language sql
  as 'select count(*)::int from pg_catalog.pg_prepared_statements'`;
const accessToken = `sbp_${'0'.repeat(40)}`;

/** Measures. */
export async function measureCacheBusting(
  db: BenchDatabase,
  load: CacheBustingLoad,
): Promise<readonly CacheBustingRow[]> {
  await db.run([statementsFunction]);
  const relay = await startRelay(db.loginUrl, politeTable);
  const options: OursOptions = {
    databaseUrl: relay.url,
    poolSize: load.poolSize,
    env: { PGREFLECT_ACCESS_TOKEN: accessToken },
  };
  const { target } = await startOurs(options);
  try {
    const rows: CacheBustingRow[] = [];
    await runLoad({ port: target.port, ...politeLoad, seconds: 2 });
    for (const kind of kinds) {
      rows.push(await measureKind({ kind, relay, port: target.port, pid: target.pid, load }));
      console.error(`cache busting, ${kind.title}: ${JSON.stringify(rows.at(-1))}`);
    }
    return rows;
  } finally {
    await target.stop();
    relay.stop();
  }
}

interface Run {
  readonly kind: Kind;
  readonly relay: Relay;
  readonly port: number;
  readonly pid: number;
  readonly load: CacheBustingLoad;
}

async function measureKind(run: Run): Promise<CacheBustingRow> {
  const { kind, pid, port, load } = run;
  const beforeMib = residentMib(pid);
  for (let sent = 0; sent < load.requests; sent += floodSize) {
    const requests = makeRequests(kind, sent, Math.min(floodSize, load.requests - sent));
    await runLoad({ port, requests, sockets: floodSockets, seconds: 600, once: true });
  }
  const afterMib = residentMib(pid);
  const statements = await mostStatements(port);
  // What the others have pushed out meanwhile is prepared again, on each connection.
  await runLoad({ port, ...politeLoad, seconds: 1 });
  const [alone, beside]: [Turn[], Turn[]] = [[], []];
  for (let round = 0; round < load.rounds; round += 1) {
    alone.push(await takeTurn(run, null));
    beside.push(await takeTurn(run, load.requests + round * besidePerSecond * load.seconds));
  }
  return {
    title: kind.title,
    requests: load.requests,
    beforeMib,
    afterMib,
    statements,
    aloneHitRate: medianOf(alone, 'hitRate'),
    besideHitRate: medianOf(beside, 'hitRate'),
    aloneP50Ms: medianOf(alone, 'p50Ms'),
    besideP50Ms: medianOf(beside, 'p50Ms'),
    aloneP99Ms: medianOf(alone, 'p99Ms'),
    besideP99Ms: medianOf(beside, 'p99Ms'),
  };
}

function makeRequests({ make }: Kind, from: number, count: number): Buffer[] {
  return Array.from({ length: count }, (_, index) => make(from + index));
}

interface Turn {
  readonly hitRate: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** The polite client for a while. @param from The number of the other's first request; null: it is alone. */
async function takeTurn({ kind, relay, port, load }: Run, from: number | null): Promise<Turn> {
  const { seconds } = load;
  const requests = makeRequests(kind, from ?? 0, from === null ? 0 : besidePerSecond * seconds);
  relay.reset();
  const before = await readMisses(port);
  const other: Promise<LoadResult> | null =
    from === null
      ? null
      : runLoad({ port, requests, sockets: 1, everyMs: 1000 / besidePerSecond, seconds, once: true });
  const { latencies } = await runLoad({ port, ...politeLoad, seconds });
  const sent = (await other)?.requests ?? 0;
  const misses = (await readMisses(port)) - before - (kind.hasDocuments ? sent : 0);
  const missed = Math.max(0, misses) + relay.counts().watchedParses;
  return { hitRate: 1 - missed / latencies.length, p50Ms: quantile(latencies, 0.5), p99Ms: quantile(latencies, 0.99) };
}

/** Documents that the gateway has parsed since its start. */
async function readMisses(port: number): Promise<number> {
  const headers = { authorization: `Bearer ${accessToken}` };
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers })).text();
  const found = /^pgreflect_graphql_document_lookups_total\{result="miss"\} (\d+)$/m.exec(text)?.[1];
  if (found === undefined) throw new Error('the metrics do not say how many documents were parsed');
  return Number(found);
}

/** Asks as many at once as there are connections, several times. */
async function mostStatements(port: number): Promise<number> {
  const ask = async (): Promise<number> => {
    const response = await fetch(`http://127.0.0.1:${port}/graphql/v1`, {
      method: 'POST',
      headers: { apikey: anonKey(), 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ preparedStatements }' }),
    });
    const { data } = (await response.json()) as { readonly data: { readonly preparedStatements: number } };
    return data.preparedStatements;
  };
  const found: number[] = [];
  for (let round = 0; round < 20; round += 1) found.push(...(await Promise.all(Array.from({ length: 16 }, ask))));
  return Math.max(...found);
}

function medianOf(turns: readonly Turn[], figure: keyof Turn): number {
  return quantile(
    turns.map((turn) => turn[figure]).sort((a, b) => a - b),
    0.5,
  );
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.floor(sorted.length * share)] ?? 0;
}
