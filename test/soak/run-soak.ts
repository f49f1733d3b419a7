/**
 * A soak: clients that know the right answer to everything they ask, at a steady rate, while the database is changed around them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { createRandom, type Random } from '../property/random.ts';
import { type Ledger, openLedger } from '../storm/ledger.ts';
import { summarize } from '../storm/summarize-log.ts';
import { token } from '../support/http.ts';
import type { WhenOver } from '../support/when-over.ts';
import { beClient, send } from './clients.ts';
import { disturbances } from './disturbances.ts';
import { Members } from './members.ts';
import { type MemorySample, type MemoryTrend, trendOf, watchMemory } from './memory.ts';
import { descriptionRequest } from './requests.ts';
import { poolSize, type Servers, startServers } from './servers.ts';
import type { Cut, Soak } from './soak-state.ts';
import { Subscribers } from './subscribers.ts';

/** How long and how much. */
export interface SoakOptions {
  readonly minutes: number;
  /** Share of what the gateway can do that it is asked for, in percent. */
  readonly load: number;
  readonly clients: number;
  readonly seed: number;
  /** How long it is measured what the gateway can do, after four times as long to get warm. */
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
  /** What the gateway logged that is worth a look, with its number. */
  readonly complaints: ReadonlyMap<string, number>;
}

/** It gets warm so many times longer than it is measured: until V8 has compiled its way, a request costs four times as much. */
const warmUpShares = 4;

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
/** How often garbage is collected; in a short soak more often, by its minutes. */
const maxMemoryMs = 5000;
const minMemoryMs = 1000;
const memoryMsPerMinute = 2000;
/** For the catalog, for notifications, and for the auth service, as they are by default. */
const otherConnections = 3 + 1 + 10;
/** Share of the requests that traces are recorded of, at least; one in ten is. */
const leastTraced = 0.09;
/** With fewer, the share is chance. */
const leastRequests = 20_000;

/** Runs it to its end. */
export async function runSoak(options: SoakOptions, whenOver: WhenOver): Promise<SoakReport> {
  const { minutes, load, clients, seed, calibrateMs = 5000, onEvent = () => {} } = options;
  const random = createRandom(seed);
  const memory = watchMemory(Math.max(minMemoryMs, Math.min(maxMemoryMs, minutes * memoryMsPerMinute)), whenOver);
  const servers = await startServers(clients, memory, whenOver);
  const ledger = openLedger();
  let end = 0;
  const soak: Soak = {
    servers,
    ledger,
    isOver: () => performance.now() > end && soak.roundsLeft === 0,
    serial: 0,
    roundsLeft: 0,
    round: 0,
    cuts: [],
  };
  const members = new Members(soak, random.fork());
  const subscribers = new Subscribers(soak, random.fork(), whenOver);
  const people = Array.from({ length: clients }, () => random.fork());
  const all = (everyMs: number, forMs: number, ...beside: readonly (() => Promise<void>)[]) => {
    end = performance.now() + forMs;
    const asking = people.map((person, index) => beClient(soak, `client ${index}`, person, everyMs));
    return Promise.all([...asking, members.run(), subscribers.run(), ...beside.map((each) => each())]);
  };
  await all(0, warmUpShares * calibrateMs);
  const answersBefore = ledger.figures.get('answers') ?? 0;
  await all(0, calibrateMs);
  const peakPerSecond = ((ledger.figures.get('answers') ?? 0) - answersBefore) / (calibrateMs / 1000);
  onEvent(`${Math.round(peakPerSecond)} requests a second are what it can do; ${load} % of that from now on`);

  soak.roundsLeft = 1;
  const start = performance.now();
  const readSample = () => memory.read(servers.metricsUrl, (performance.now() - start) / 60_000);
  const stretch = Math.min(warmUpMinutes, minutes * warmUpShare);
  const samples: MemorySample[] = [];
  for (let minute = stretch; minute < minutes + stretch / 2; minute += stretch) {
    await all(
      (1000 * clients) / (peakPerSecond * (load / 100)),
      stretch * 60_000,
      () => disturb(soak, random.fork(), onEvent),
      () => look(soak, onEvent, readSample),
    );
    await members.check();
    await forget(soak, `${samples.length} samples`);
    await sleep(2 * memory.everyMs);
    const sample = await readSample();
    onEvent(`${sample.minutes.toFixed(1)} min, and nobody asks: ${printMemory(sample)}`);
    samples.push(sample);
    await checkConnections(soak, true);
    await checkGauges(soak);
  }
  if (!ledger.figures.has('looks in exact mode')) ledger.violation('changed tables were never recorded');
  await checkTraces(soak);
  const trend = trendOf(samples, 0);
  judge(trend, ledger);
  const complaints = summarize(servers.complaints());
  return { figures: ledger.figures, violations: ledger.violations, trend, peakPerSecond, complaints };
}

/** Between two disturbances; the first come soon, so that even a short soak has them all. */
const minCalmMs = 250;
const maxCalmMs = 8000;

async function disturb(soak: Soak, random: Random, onEvent: (line: string) => void): Promise<void> {
  const { servers, ledger, isOver, cuts } = soak;
  while (!isOver()) {
    soak.round += 1;
    const { round } = soak;
    for (const [name, { isCut, happen }] of Object.entries(disturbances)) {
      if (isOver()) return;
      ledger.disturb(true);
      const cut: Cut = { from: Date.now(), to: Number.POSITIVE_INFINITY };
      if (isCut) cuts.push(cut);
      await happen(servers, round, random);
      cut.to = Date.now();
      ledger.disturb(false);
      ledger.count(`disturbances: ${name}`);
      if (name === 'database restarted') onEvent(`${name}, round ${round}`);
      await sleep(Math.min(maxCalmMs, minCalmMs * 2 ** (round - 1)));
    }
    soak.roundsLeft = 0;
  }
}

/** Changes the schema, and asks until the gateway answers by it: then it has let go of all operations of the one before. */
async function forget(soak: Soak, text: string): Promise<void> {
  const { servers, ledger } = soak;
  // A comment without the directive is no part of the schema.
  await servers.database.query(`comment on table public.book is '@graphql({"description": "${text}"})'`);
  const key = await token({ role: 'authenticated', sub: 'nobody' });
  const request = descriptionRequest(text);
  for (const end = performance.now() + forgetMs; performance.now() < end; await sleep(lookMs / 4)) {
    const reply = await send(soak, key, request);
    if (isDeepStrictEqual(await reply.json(), { data: request.data })) return;
  }
  ledger.violation(`nobody saw a changed comment for ${forgetMs} ms`);
}

/** Looks at the memory, at the connections and at live queries now and then. */
async function look(
  soak: Soak,
  onEvent: (line: string) => void,
  readSample: () => Promise<MemorySample>,
): Promise<void> {
  for (let count = 0; !soak.isOver(); count += 1) {
    const sample = await readSample();
    await checkConnections(soak, false);
    if ((await readSeries(soak.servers, 'pgreflect_live_exact')) === 1) soak.ledger.count('looks in exact mode');
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
async function checkConnections({ servers, ledger }: Soak, isAtEnd: boolean): Promise<void> {
  const sql = `select pg_catalog.count(*)::int as open,
      (pg_catalog.count(*) filter (where state like 'idle in transaction%' and state_change < pg_catalog.now() - interval '15 s'
        or $1 and state <> 'idle'))::int as busy
    from pg_catalog.pg_stat_activity where application_name like 'pgreflect%' and backend_type = 'client backend'`;
  const lastLook = performance.now() + (isAtEnd ? endMs : 0);
  for (;;) {
    const rows = await servers.database.query<ConnectionCount>(sql, [isAtEnd]).catch(() => null);
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

/** What is kept for subscribers, and what waits to be sent. */
const gauges = ['pgreflect_live_subscriptions', 'pgreflect_live_groups', 'pgreflect_email_queue_messages'];

/** Nothing is kept for anybody when nobody is there. */
async function checkGauges({ servers, ledger }: Soak): Promise<void> {
  for (const name of gauges) {
    const value = await readSeries(servers, name);
    if (value !== 0) ledger.violation(`nobody asks, and ${name} is ${value}`);
  }
}

/** The spans of one request in ten have arrived. */
async function checkTraces({ servers, ledger }: Soak): Promise<void> {
  const requests = await readSeries(servers, 'pgreflect_http_requests_total');
  const { collector } = servers;
  ledger.count('spans', collector.spans);
  ledger.count('requests that were traced', collector.requests);
  ledger.count('requests by the metrics', requests);
  if (collector.spans === 0) ledger.violation('no spans have arrived');
  if (requests > leastRequests && collector.requests < leastTraced * requests)
    ledger.violation(`${collector.requests} of ${requests} requests were traced`);
}

/** The sum of all lines of a name. */
async function readSeries({ metricsUrl }: Servers, name: string): Promise<number> {
  const text = await (await fetch(metricsUrl)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

function judge({ minutes, aliveSlope }: MemoryTrend, ledger: Ledger): void {
  const grown = (aliveSlope * minutes) / 60;
  if (minutes >= slopeMinutes && aliveSlope > maxSlopeMb) ledger.violation(`memory grows by ${aliveSlope} MB an hour`);
  if (grown > maxGrowthMb) ledger.violation(`memory has grown by ${grown} MB in ${minutes} minutes`);
}
