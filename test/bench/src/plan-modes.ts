/**
 * Plans made for the values of one execution beside plans made once for any values, and beside PostgreSQL's own choice between
 * the two, on a table where nine of ten rows have one value and ten of a million another.
 *
 * PostgreSQL chooses by what it expects of the plans and never learns what they took: a plan that reads rows in the order of the page
 * until enough of them match is expected to be cheap, and for a rare value reads the whole table.
 */
import pg from 'pg';
import type { BenchDatabase } from './database.ts';
import { explainStatement } from './explain.ts';
import { runLoad } from './load.ts';
import { table } from './markdown.ts';
import { median } from './measure.ts';
import type { Target } from './processes.ts';
import { ourRequest, startOurs } from './targets.ts';

/** One statement with one of its values; milliseconds of planning and execution together, by mode. */
export interface PlanModeResult {
  readonly title: string;
  readonly value: 'frequent' | 'rare';
  readonly milliseconds: Readonly<Record<PlanMode, number>>;
  /** A request to the gateway, HTTP and all. */
  readonly gatewayMs: number;
}

const modes = ['auto', 'force_custom_plan', 'force_generic_plan'] as const;
type PlanMode = (typeof modes)[number];

interface ModeCase {
  readonly title: string;
  readonly operation: string;
  readonly frequent: object;
  readonly rare: object;
}

const events = 1_000_000;
/** PostgreSQL makes its choice at the sixth. */
const executionsBefore = 10;
const runs = 7;
const requestsBefore = 60;
const requests = 50;
const page = '{ edges { node { id title } } }';
const kinds = { frequent: { k: 'common' }, rare: { k: 'rare' } };
const behind = Buffer.from(JSON.stringify([events * 0.8])).toString('base64');

const modeCases: readonly ModeCase[] = [
  {
    title: 'page of one kind',
    operation: `query ($k: String!) { eventCollection(first: 20, filter: {kind: {eq: $k}}) ${page} }`,
    ...kinds,
  },
  {
    title: 'page of one kind, the latest first',
    operation: `query ($k: String!) { eventCollection(first: 20, filter: {kind: {eq: $k}}, orderBy: [{happenedAt: DescNullsFirst}]) ${page} }`,
    ...kinds,
  },
  {
    title: 'page of two kinds',
    operation: `query ($k: [String!]!) { eventCollection(first: 20, filter: {kind: {in: $k}}) ${page} }`,
    frequent: { k: ['common', 'kind 1'] },
    rare: { k: ['rare', 'none'] },
  },
  {
    title: 'page from a time on',
    operation: `query ($t: Datetime!) { eventCollection(first: 20, filter: {happenedAt: {gte: $t}}) ${page} }`,
    frequent: { t: '2025-01-01T00:00:00Z' },
    rare: { t: '2025-01-12T13:46:30Z' },
  },
  {
    title: 'page of one kind behind a cursor',
    operation: `query ($k: String!, $c: Cursor) { eventCollection(first: 20, after: $c, filter: {kind: {eq: $k}}) ${page} }`,
    frequent: { k: 'common', c: behind },
    rare: { k: 'rare', c: behind },
  },
  {
    title: 'count of one kind',
    operation: 'query ($k: String!) { eventCollection(filter: {kind: {eq: $k}}) { totalCount } }',
    ...kinds,
  },
  {
    title: 'one row by key',
    operation: 'query ($n: Int!) { eventByPk(id: $n) { id title } }',
    frequent: { n: 7 },
    rare: { n: events - 7 },
  },
];

/** Fills the table of events and measures. */
export async function measurePlanModes(db: BenchDatabase): Promise<PlanModeResult[]> {
  await db.run([`call plans.fill_events(${events})`, 'vacuum analyze plans.event']);
  const client = new pg.Client({ connectionString: db.loginUrl });
  await client.connect();
  await client.query('set role anon');
  const { target } = await startOurs({ databaseUrl: db.loginUrl, poolSize: 1, schema: 'plans' });
  try {
    const results: PlanModeResult[] = [];
    for (const modeCase of modeCases) {
      console.error(`plan modes: ${modeCase.title}`);
      const modesMs = await measureModes(db, client, modeCase);
      const gatewayMs = await measureGateway(target, modeCase);
      (['frequent', 'rare'] as const).forEach((value, index) => {
        const milliseconds = Object.fromEntries(modes.map((mode) => [mode, modesMs[mode][index] ?? 0]));
        results.push({
          title: modeCase.title,
          value,
          gatewayMs: gatewayMs[index] ?? 0,
          milliseconds: milliseconds as Record<PlanMode, number>,
        });
      });
    }
    return results;
  } finally {
    await target.stop();
    await client.end();
  }
}

/** For each mode the frequent value and the rare one. */
async function measureModes(
  db: BenchDatabase,
  client: pg.Client,
  { title, operation, frequent, rare }: ModeCase,
): Promise<Record<PlanMode, number[]>> {
  const statements = [frequent, rare].map((variables) =>
    explainStatement(db, { ours: operation, variables, schema: 'plans' }),
  );
  const [text, ...others] = new Set(statements.map((statement) => statement.text));
  if (text === undefined || others.length > 0) throw new Error(`${title}: the statement depends on the values`);
  const executions = statements.map(({ values }) => executionOf(values));
  const measured: [PlanMode, number[]][] = [];
  for (const mode of modes) {
    await client.query(`set plan_cache_mode = ${mode}`);
    await client.query(`prepare measured as ${text}`);
    for (let before = 0; before < executionsBefore; before += 1)
      await client.query(executions[before % executions.length] ?? '');
    const times: number[] = [];
    for (const execution of executions) times.push(await medianMs(client, execution));
    measured.push([mode, times]);
    await client.query('deallocate measured');
  }
  return Object.fromEntries(measured) as Record<PlanMode, number[]>;
}

/** The frequent value and the rare one, after both have been asked for in turn. */
async function measureGateway({ port }: Target, { operation, frequent, rare }: ModeCase): Promise<number[]> {
  const [one, other] = [frequent, rare].map((variables) => ourRequest(operation, variables)) as [Buffer, Buffer];
  const ask = async (count: number, asked: readonly Buffer[]) => {
    const turns = Array.from({ length: count }, (_, turn) => asked[turn % asked.length] as Buffer);
    return (await runLoad({ port, requests: turns, sockets: 1, seconds: 120, once: true })).latencies;
  };
  await ask(requestsBefore, [one, other]);
  return [median(await ask(requests, [one])), median(await ask(requests, [other]))];
}

/** Values are our own, see above. */
function executionOf(values: readonly string[]): string {
  return `execute measured(${values.map((value) => pg.escapeLiteral(value)).join(', ')})`;
}

interface Explained {
  readonly 'Planning Time': number;
  readonly 'Execution Time': number;
}

async function medianMs(client: pg.Client, execution: string): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const { rows } = await client.query<{ readonly 'QUERY PLAN': readonly [Explained] }>(
      `explain (analyze, timing off, summary on, format json) ${execution}`,
    );
    const [explained] = rows[0]?.['QUERY PLAN'] ?? [];
    if (explained === undefined) throw new Error('PostgreSQL gave no plan');
    times.push(explained['Planning Time'] + explained['Execution Time']);
  }
  return median(times);
}

/** A line for each statement and value. */
export function printPlanModes(results: readonly PlanModeResult[]): string {
  return table(
    ['statement', 'value', ...modes.map((mode) => `${mode} ms`), 'a request to pgreflect ms'],
    results.map(({ title, value, milliseconds, gatewayMs }) => [
      value === 'frequent' ? title : '',
      value,
      ...modes.map((mode) => milliseconds[mode].toFixed(3)),
      gatewayMs.toFixed(2),
    ]),
    2,
  );
}
