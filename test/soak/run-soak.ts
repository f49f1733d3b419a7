/**
 * A soak: clients that know the right answer to everything they ask, at a steady rate, while the database is changed around them.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { createRandom, type Random } from '../property/random.ts';
import { type Ledger, openLedger } from '../storm/ledger.ts';
import { createDatabase, type RestartableDatabase, startGateway } from '../storm/world.ts';
import { findFreePort } from '../support/free-port.ts';
import { secret, token } from '../support/http.ts';
import type { WhenOver } from '../support/when-over.ts';
import { disturbances } from './disturbances.ts';
import { type MemorySample, type MemoryTrend, trendOf, watchMemory } from './memory.ts';
import { descriptionRequest, longRequest, makeRequest, type SoakRequest } from './requests.ts';

/** How long and how much. */
export interface SoakOptions {
  readonly minutes: number;
  /** Share of what the gateway can do that it is asked for, in percent. */
  readonly load: number;
  readonly clients: number;
  readonly seed: number;
  /** How long it is measured what the gateway can do, after as much time to get warm. */
  readonly calibrateMs?: number;
  /** Hears of its course, a line at a time. */
  readonly onEvent?: (line: string) => void;
}

/** What came of it. */
export interface SoakReport {
  /** Counts by name. */
  readonly figures: ReadonlyMap<string, number>;
  /** Empty where everything held. */
  readonly violations: readonly string[];
  readonly trend: MemoryTrend;
  readonly peakPerSecond: number;
}

/** How long memory may grow. */
const warmUpMinutes = 10;
/** Then, and each time after as long, nobody asks for a moment. In a shorter soak it is this share of it. */
const warmUpShare = 1 / 2;
/** Where there is less to judge from, a slope is mostly noise, and only growth counts. */
const slopeMinutes = 40;
const maxSlopeMb = 1;
const maxGrowthMb = 10;

const lookMs = 2000;
/** Longest wait for the gateway to answer by a changed schema, at which it looks every five seconds. */
const forgetMs = 60_000;
/** How long a connection may be busy when nobody asks any more. */
const endMs = 15_000;
/** How often garbage is collected, and how often in a short soak for each of its minutes. */
const maxMemoryMs = 5000;
const memoryMsPerMinute = 2000;
const poolSize = 8;
/** For the catalog, for notifications, and for the auth service, as they are by default. */
const otherConnections = 3 + 1 + 5;

interface Soak {
  readonly database: RestartableDatabase;
  readonly url: string;
  readonly ledger: Ledger;
  readonly isOver: () => boolean;
  serial: number;
  /** Rounds of disturbances that have to be finished first. */
  roundsLeft: number;
  /** The round of disturbances. */
  round: number;
}

/** Runs it to its end. */
export async function runSoak(options: SoakOptions, whenOver: WhenOver): Promise<SoakReport> {
  const { minutes, load, clients, seed, calibrateMs = 5000, onEvent = () => {} } = options;
  const random = createRandom(seed);
  const database = await createDatabase(whenOver);
  await prepare(database, clients);
  const metricsPort = await findFreePort();
  const memory = watchMemory(Math.min(maxMemoryMs, minutes * memoryMsPerMinute), whenOver);
  const gateway = await startGateway(
    {
      DATABASE_URL: database.urlAs('authenticator'),
      PGREFLECT_JWT_SECRET: secret,
      PGREFLECT_LOGIN_PASSWORD: 'test',
      ...memory.env,
    },
    whenOver,
    { health: '/ready', more: [...['--metrics-port', `${metricsPort}`], ...['--pool-size', `${poolSize}`]] },
  );
  const ledger = openLedger();
  let end = 0;
  const soak: Soak = {
    database,
    url: gateway.url,
    ledger,
    isOver: () => performance.now() > end && soak.roundsLeft === 0,
    serial: 0,
    roundsLeft: 0,
    round: 0,
  };
  const all = (everyMs: number, forMs: number) => {
    end = performance.now() + forMs;
    const people = Array.from({ length: clients }, (_, index) => index);
    return Promise.all(people.map((index) => live(soak, `client ${index}`, random.fork(), everyMs)));
  };
  await all(0, calibrateMs);
  const answersBefore = ledger.figures.get('answers') ?? 0;
  await all(0, calibrateMs);
  const peakPerSecond = ((ledger.figures.get('answers') ?? 0) - answersBefore) / (calibrateMs / 1000);
  onEvent(`${Math.round(peakPerSecond)} requests a second are what it can do; ${load} % of that from now on`);

  soak.roundsLeft = 1;
  const start = performance.now();
  const readSample = () => memory.read(`http://127.0.0.1:${metricsPort}/metrics`, (performance.now() - start) / 60_000);
  const stretch = Math.min(warmUpMinutes, minutes * warmUpShare);
  const samples: MemorySample[] = [];
  for (let minute = stretch; minute < minutes + stretch / 2; minute += stretch) {
    await Promise.all([
      all((1000 * clients) / (peakPerSecond * (load / 100)), stretch * 60_000),
      disturb(soak, onEvent),
      look(soak, onEvent, readSample),
    ]);
    await forget(soak, `${samples.length} samples`);
    await sleep(2 * memory.everyMs);
    const sample = await readSample();
    onEvent(`${sample.minutes.toFixed(1)} min, and nobody asks: ${printMemory(sample)}`);
    samples.push(sample);
    await checkConnections(soak, true);
  }
  const trend = trendOf(samples, 0);
  judge(trend, ledger);
  return { figures: ledger.figures, violations: ledger.violations, trend, peakPerSecond };
}

async function prepare({ query }: RestartableDatabase, clients: number): Promise<void> {
  await query(`create role anon nologin; create role authenticated nologin; create role service_role nologin bypassrls;
    create role authenticator login noinherit password 'test';
    grant anon, authenticated, service_role to authenticator`);
  await query(readFileSync(new URL('soak.sql', import.meta.url), 'utf8'));
  await query("insert into public.counter select format('client %s', n), 0 from generate_series(0, $1::int - 1) as n", [
    clients,
  ]);
}

/** Requests of one token; then a client signs in anew. */
const requestsPerToken = 20;
/** One request in so many is left by its client. */
const leftShare = 100;

/** One client, until it is over. @param everyMs From one request to the next; 0: as soon as it is answered. */
async function live(soak: Soak, owner: string, random: Random, everyMs: number): Promise<void> {
  let due = performance.now() + random.int(0, Math.floor(everyMs));
  let key = '';
  for (let count = 0; !soak.isOver(); count += 1) {
    await sleep(Math.max(0, due - performance.now()));
    soak.serial += 1;
    if (count % requestsPerToken === 0) key = await token({ role: 'authenticated', sub: owner, serial: soak.serial });
    if (random.int(1, leftShare) === 1) await leave(soak, key, random);
    else await ask(soak, key, makeRequest(random, soak.serial, owner));
    // One that is late does not make up for it by a burst.
    due = Math.max(due + everyMs, performance.now() - everyMs);
  }
}

function send(
  { url }: Pick<Soak, 'url'>,
  key: string,
  { query, variables, operationName }: SoakRequest,
  signal: AbortSignal,
) {
  return fetch(`${url}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: anonKey, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables, operationName }),
    signal,
  });
}

const anonKey = await token({ role: 'anon' });
const patienceMs = 30_000;

async function ask(soak: Soak, key: string, request: SoakRequest): Promise<void> {
  const { ledger } = soak;
  const since = Date.now();
  try {
    const response = await send(soak, key, request, AbortSignal.timeout(patienceMs));
    const body = (await response.json()) as { readonly data?: unknown };
    ledger.count('answers');
    if (isDeepStrictEqual(body, { data: request.data })) return ledger.count(`right: ${request.kind}`);
    const text = JSON.stringify(body).slice(0, 300);
    if (response.status !== 503) return ledger.violation(`${request.kind}: ${response.status} ${text}`);
    ledger.count(ledger.wasCalm(since) ? 'refused while nothing happened' : 'refused while something happened');
  } catch (error) {
    ledger.violation(`${request.kind}: no answer, ${String(error)}`);
  }
}

/** Goes away in the middle. */
async function leave(soak: Soak, key: string, random: Random): Promise<void> {
  const signal = AbortSignal.timeout(random.int(1, 60));
  const reply = await send(soak, key, longRequest, signal).catch(() => null);
  if (reply === null || reply.status === 503) soak.ledger.count(longRequest.kind);
  else soak.ledger.violation(`${longRequest.kind}: ${reply.status}`);
}

/** Between two disturbances; the first come soon, so that even a short soak has them all. */
const minCalmMs = 250;
const maxCalmMs = 8000;

async function disturb(soak: Soak, onEvent: (line: string) => void): Promise<void> {
  const { database, ledger, isOver } = soak;
  while (!isOver()) {
    soak.round += 1;
    const { round } = soak;
    for (const [name, happen] of Object.entries(disturbances)) {
      if (isOver()) return;
      ledger.disturb(true);
      await happen(database, round);
      ledger.disturb(false);
      ledger.count(`disturbances: ${name}`);
      if (name === 'database restarted') onEvent(`${name}, round ${round}`);
      await sleep(Math.min(maxCalmMs, minCalmMs * 2 ** (round - 1)));
    }
    soak.roundsLeft = 0;
  }
}

/** Changes the schema, and asks until the gateway answers by it: then it has let go of all operations of the one before. */
async function forget({ database, ledger, ...soak }: Soak, text: string): Promise<void> {
  // A comment without the directive is no part of the schema.
  await database.query(`comment on table public.item is '@graphql({"description": "${text}"})'`);
  const key = await token({ role: 'authenticated', sub: 'nobody' });
  const request = descriptionRequest(text);
  for (const end = performance.now() + forgetMs; performance.now() < end; await sleep(lookMs / 4)) {
    const reply = await send(soak, key, request, AbortSignal.timeout(patienceMs));
    if (isDeepStrictEqual(await reply.json(), { data: request.data })) return;
  }
  ledger.violation(`nobody saw a changed comment for ${forgetMs} ms`);
}

/** Looks at the memory and at the connections now and then. */
async function look(
  soak: Soak,
  onEvent: (line: string) => void,
  readSample: () => Promise<MemorySample>,
): Promise<void> {
  for (let count = 0; !soak.isOver(); count += 1) {
    const sample = await readSample();
    await checkConnections(soak, false);
    const answers = soak.ledger.figures.get('answers');
    if (count % 30 === 0) onEvent(`${sample.minutes.toFixed(1)} min: ${answers} answers, ${printMemory(sample)}`);
    await sleep(lookMs);
  }
}

function printMemory({ aliveMb, compiledMb, residentMb }: MemorySample): string {
  return `${aliveMb.toFixed(1)} MB alive, ${compiledMb.toFixed(1)} MB compiled, ${residentMb.toFixed(0)} MB resident`;
}

interface ConnectionCount {
  readonly open: number;
  readonly busy: number;
}

/** No more connections than allowed, none of them forgotten in a transaction. @param isAtEnd Nobody asks any more. */
async function checkConnections({ database, ledger }: Soak, isAtEnd: boolean): Promise<void> {
  const sql = `select pg_catalog.count(*)::int as open,
      (pg_catalog.count(*) filter (where state like 'idle in transaction%' and state_change < pg_catalog.now() - interval '15 s'
        or $1 and state <> 'idle'))::int as busy
    from pg_catalog.pg_stat_activity where application_name like 'pgreflect%' and backend_type = 'client backend'`;
  const lastLook = performance.now() + (isAtEnd ? endMs : 0);
  for (;;) {
    const rows = await database.query<ConnectionCount>(sql, [isAtEnd]).catch(() => null);
    if (rows === null) return;
    const [{ open, busy }] = rows as [ConnectionCount];
    // The server learns of a client that has left when it writes to it, and a catalog may be read just now.
    if (busy > 0 && performance.now() < lastLook) {
      await sleep(lookMs / 4);
      continue;
    }
    ledger.count('looks at the connections');
    if (open > poolSize + otherConnections) ledger.violation(`${open} connections`);
    if (busy > 0) ledger.violation(`${busy} connections that nobody uses are busy`);
    return;
  }
}

function judge({ minutes, aliveSlope }: MemoryTrend, ledger: Ledger): void {
  const grown = (aliveSlope * minutes) / 60;
  if (minutes >= slopeMinutes && aliveSlope > maxSlopeMb) ledger.violation(`memory grows by ${aliveSlope} MB an hour`);
  if (grown > maxGrowthMb) ledger.violation(`memory has grown by ${grown} MB in ${minutes} minutes`);
}
