/**
 * `npm run bench -- [PART…] [--quick] [--write-docs] …`: what pgreflect costs, beside what it could be replaced by and beside the
 * least that is possible, all on one PostgreSQL of the bench's own. The README beside this folder has all options.
 *
 * Writes latest.json and latest.md under .pgreflect/bench and prints the latter.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureAgainst, printAgainst } from './against.ts';
import { measureAuth } from './auth.ts';
import { measureCacheBusting } from './cache-busting.ts';
import { type BenchCase, cases } from './cases.ts';
import { compare } from './compare.ts';
import { type BenchDatabase, startDatabase } from './database.ts';
import { writeDocuments } from './documents.ts';
import { measureLargeSchema, type SchemaResult } from './large-schema.ts';
import { measureLive } from './live.ts';
import { measureOverload } from './overload.ts';
import { measurePlanModes } from './plan-modes.ts';
import { measurePlans } from './plans.ts';
import { measurePooler } from './pooler.ts';
import { measureRelated } from './related.ts';
import { relatedCases } from './related-cases.ts';
import { describeHere, printReport, type Report } from './report.ts';
import { contestantNames } from './targets.ts';

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    compare: { type: 'boolean', default: false },
    related: { type: 'boolean', default: false },
    auth: { type: 'boolean', default: false },
    overload: { type: 'boolean', default: false },
    pooler: { type: 'boolean', default: false },
    'cache-busting': { type: 'boolean', default: false },
    plans: { type: 'boolean', default: false },
    live: { type: 'boolean', default: false },
    tables: { type: 'string' },
    against: { type: 'string' },
    fsync: { type: 'string', default: 'off' },
    only: { type: 'string', multiple: true },
    without: { type: 'string', multiple: true, default: [] },
    items: { type: 'string', multiple: true },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    sockets: { type: 'string', default: '16' },
    'no-connections': { type: 'boolean', default: false },
    'no-pgbench': { type: 'boolean', default: false },
    'no-statement-reuse': { type: 'boolean', default: false },
    'write-docs': { type: 'boolean', default: false },
  },
});
const root = join(import.meta.dirname, '../../..');
const results = join(root, '.pgreflect/bench');
const load = {
  rounds: count('rounds', flags.rounds, flags.quick ? 1 : 3),
  seconds: count('seconds', flags.seconds, flags.quick ? 2 : 5),
  warmUpSeconds: flags.quick ? 0.5 : 2,
  sockets: count('sockets', flags.sockets, 16),
  poolSize: 8,
};
/** Of each kind that a client can make different from all before. */
const differentRequests = flags.quick ? 5000 : 100_000;
const isChosen = ({ name }: BenchCase) => flags.only?.includes(name) ?? true;
const offered = flags.related ? relatedCases : cases;
if (!offered.some(isChosen))
  throw new Error(`No such case; choose from ${offered.map(({ name }) => name).join(', ')}.`);
const chosen = cases.filter(isChosen);
const names = contestantNames.filter((name) => !flags.without.includes(name));
const unknown = flags.without.filter((name) => !contestantNames.some((each) => each === name));
if (unknown.length > 0)
  throw new Error(`No such server: ${unknown.join(', ')}. There are ${contestantNames.join(', ')}.`);
if (flags.fsync !== 'on' && flags.fsync !== 'off') throw new Error(`--fsync needs on or off, not "${flags.fsync}".`);
const parts = chooseParts();

const database = await startDatabase(flags.fsync);
try {
  const text = flags.against === undefined ? await report(database) : await reportAgainst(database, flags.against);
  console.log(`\n${text}`);
} finally {
  await database.stop();
}

/** The parts that were named; without any the servers, the auth service, overload and the pooler, and all where the documents are written. */
function chooseParts() {
  const {
    compare: servers,
    related,
    auth,
    overload,
    'cache-busting': cacheBusting,
    pooler,
    plans,
    live,
    tables,
  } = flags;
  const named =
    servers || related || auth || overload || cacheBusting || pooler || plans || live || tables !== undefined;
  const all = !named && flags['write-docs'];
  const sizes = (given: readonly string[] | undefined, name: string, unlessTold: readonly number[]) =>
    given?.map((each) => count(name, each, 0)) ?? unlessTold;
  return {
    compare: servers || !named,
    related: related || all,
    auth: auth || !named,
    overload: overload || !named,
    cacheBusting: cacheBusting || all,
    pooler: pooler || !named,
    live: live || all,
    plans: plans || all ? sizes(flags.items, 'items', [10_000, 1_000_000, 10_000_000]) : null,
    schemas: tables !== undefined || all ? sizes(tables?.split(','), 'tables', [11, 300, 1000, 10_000]) : null,
  };
}

async function report(db: BenchDatabase): Promise<string> {
  const { rounds, seconds, sockets, poolSize } = load;
  const comparison = parts.compare
    ? await compare(db, {
        ...load,
        cases: chosen,
        names,
        withConnections: !flags['no-connections'],
        withStatements: !flags['no-pgbench'],
        withStatementReuse: !flags['no-statement-reuse'],
      })
    : null;
  const measured: Report = {
    ...describeHere(root),
    rounds,
    seconds,
    sockets,
    poolSize,
    comparison,
    version: db.version,
    fsync: db.fsync,
    related: parts.related ? await measureRelated(db, { ...load, cases: relatedCases.filter(isChosen), names }) : null,
    auth: parts.auth ? await measureAuth(db, load) : null,
    overload: parts.overload ? await measureOverload(db, load) : null,
    cacheBusting: parts.cacheBusting ? await measureCacheBusting(db, { ...load, requests: differentRequests }) : null,
    pooler: parts.pooler ? await measurePooler(db, load) : null,
    plans: parts.plans === null ? null : await measurePlans(db, parts.plans),
    planModes: parts.plans === null ? null : await measurePlanModes(db),
    live: parts.live ? await measureLive(db, load) : null,
    schemas: parts.schemas === null ? null : await measureSchemas(db, parts.schemas),
  };
  const text = printReport(measured);
  writeResults(measured, text);
  if (flags['write-docs']) writeDocuments(root, measured);
  return text;
}

async function measureSchemas(db: BenchDatabase, sizes: readonly number[]): Promise<SchemaResult[]> {
  const measured: SchemaResult[] = [];
  for (const tables of sizes) measured.push(...(await measureLargeSchema(db, tables)));
  return measured;
}

async function reportAgainst(db: BenchDatabase, revision: string): Promise<string> {
  const measured = await measureAgainst(db, { ...load, root, revision, cases: chosen });
  const text = `${describeHere(root).commit} beside ${revision}, fsync ${db.fsync}:\n\n${printAgainst(measured)}`;
  writeResults({ ...describeHere(root), revision, fsync: db.fsync, measured }, text);
  return text;
}

function writeResults(measured: object, text: string): void {
  mkdirSync(results, { recursive: true });
  writeFileSync(join(results, 'latest.json'), `${JSON.stringify(measured, null, 2)}\n`);
  writeFileSync(join(results, 'latest.md'), text);
}

/** A whole number from 1. */
function count(name: string, given: string | undefined, unlessTold: number): number {
  const value = given === undefined ? unlessTold : Number(given);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} needs a whole number from 1, not "${given}".`);
  return value;
}
