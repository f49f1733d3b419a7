/**
 * The SQL that pgreflect makes beside SQL written by hand: time, buffers, indexes, and whether it sorts or keeps more, at
 * several sizes, without and with row level security.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import type { BenchDatabase } from './database.ts';
import { type ExplainedStatement, explainStatement } from './explain.ts';
import { leaves } from './leaves.ts';
import { table, whole } from './markdown.ts';
import { median } from './measure.ts';
import { type PlanCase, planCases } from './plan-cases.ts';

/** One kind of plan at one size. */
export interface PlanResult {
  readonly title: string;
  readonly items: number;
  readonly rowSecurity: boolean;
  readonly ours: PlanFigures;
  readonly byHand: PlanFigures;
}

/** What PostgreSQL did for a statement. */
export interface PlanFigures {
  /** Median of the runs, making of the text of the rows included. */
  readonly milliseconds: number;
  /** Pages of 8 KiB, found in memory or read. */
  readonly buffers: number;
  /** Indexes, and tables that are read from end to end, in order. */
  readonly reads: readonly string[];
  /** Steps that sort or keep rows, in order. */
  readonly keeps: readonly string[];
}

const runs = 31;
const keeping = ['Sort', 'Incremental Sort', 'Materialize', 'Memoize', 'Hash', 'CTE Scan', 'WindowAgg'];
/** What ours may cost of what was written by hand. */
const limits = { time: 1.15, buffers: 1.1 };

/** Compares every kind of plan at each size. Rejects when the two statements of a kind give different values. */
export async function measurePlans(db: BenchDatabase, sizes: readonly number[]): Promise<PlanResult[]> {
  await db.run([readFileSync(join(import.meta.dirname, '../sql/plans.sql'), 'utf8')]);
  const client = new pg.Client({ connectionString: db.loginUrl });
  await client.connect();
  await client.query('set role anon');
  const results: PlanResult[] = [];
  try {
    for (const items of sizes) {
      await db.run([`call plans.fill(${items})`, 'vacuum analyze']);
      const statements = planCases.map((planCase) => [planCase, statementsOf(db, planCase, items)] as const);
      for (const rowSecurity of [false, true]) {
        await setRowSecurity(db, rowSecurity);
        for (const [{ title }, pair] of statements) {
          console.error(`plans, ${items} items${rowSecurity ? ' with policies' : ''}: ${title}`);
          results.push({ title, items, rowSecurity, ...(await comparePair(client, title, pair)) });
        }
      }
    }
    return results;
  } finally {
    await client.end();
  }
}

interface Pair {
  readonly ours: ExplainedStatement;
  readonly byHand: ExplainedStatement;
}

function statementsOf(db: BenchDatabase, { ours, variables, byHand, parameters }: PlanCase, items: number): Pair {
  return {
    ours: explainStatement(db, { ours, variables: variables(items), schema: 'plans' }),
    byHand: { text: byHand, values: parameters(items).map(String) },
  };
}

async function setRowSecurity(db: BenchDatabase, isOn: boolean): Promise<void> {
  const word = isOn ? 'enable' : 'disable';
  await db.run(['item', 'review', 'author'].map((name) => `alter table plans.${name} ${word} row level security`));
}

async function comparePair(client: pg.Client, title: string, { ours, byHand }: Pair) {
  const [given, expected] = [await answerOf(client, ours), await answerOf(client, byHand)];
  if (!isDeepStrictEqual(given, expected)) throw new Error(`${title}: the statements give different values`);
  const seen = { ours: [] as Explained[], byHand: [] as Explained[] };
  for (let run = 0; run < runs; run += 1) {
    seen.ours.push(await explainOnce(client, ours));
    seen.byHand.push(await explainOnce(client, byHand));
  }
  return { ours: figuresOf(seen.ours), byHand: figuresOf(seen.byHand) };
}

/** The values in order; what is JSON is read. */
async function answerOf(client: pg.Client, { text, values }: ExplainedStatement): Promise<unknown[]> {
  const { rows } = await client.query<unknown[]>({ text, values: [...values], rowMode: 'array' });
  return leaves(rows.map((row) => row.map(readJson)));
}

function readJson(value: unknown): unknown {
  return typeof value === 'string' && value.startsWith('{') ? JSON.parse(value) : value;
}

interface Explained {
  readonly 'Execution Time': number;
  readonly Plan: PlanStep;
}

interface PlanStep {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanStep[];
}

/** With the values known, as PostgreSQL plans the first executions of a prepared statement. */
async function explainOnce(client: pg.Client, { text, values }: ExplainedStatement): Promise<Explained> {
  const explain = `explain (analyze, buffers, serialize text, timing off, format json) ${text}`;
  const { rows } = await client.query<{ readonly 'QUERY PLAN': readonly [Explained] }>(explain, [...values]);
  const [explained] = rows[0]?.['QUERY PLAN'] ?? [];
  if (explained === undefined) throw new Error('PostgreSQL gave no plan');
  return explained;
}

function figuresOf(explained: readonly Explained[]): PlanFigures {
  const { Plan: plan } = explained.at(-1) as Explained;
  const steps = stepsOf(plan);
  return {
    milliseconds: median(explained.map((each) => each['Execution Time'])),
    buffers: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
    reads: steps.flatMap((step) => step['Index Name'] ?? (step['Node Type'] === 'Seq Scan' ? `${step['Relation Name']}` : [])).sort(), // biome-ignore format: one thought
    keeps: steps
      .map((step) => step['Node Type'])
      .filter((type) => keeping.includes(type))
      .sort(),
  };
}

function stepsOf(step: PlanStep): PlanStep[] {
  return [step, ...(step.Plans ?? []).flatMap(stepsOf)];
}

/** Times, buffers, and what of the limits is not kept. */
export function printPlans(results: readonly PlanResult[]): string {
  return table(
    [
      'plan',
      'items',
      'policies',
      'ms',
      'by hand',
      'ratio',
      'buffers',
      'by hand',
      'reads the same indexes',
      'sorts or keeps more',
    ],
    results.map(({ title, items, rowSecurity, ours, byHand }) => [
      title,
      whole(items),
      rowSecurity ? 'on' : 'off',
      ours.milliseconds.toFixed(3),
      byHand.milliseconds.toFixed(3),
      shared(ours.milliseconds, byHand.milliseconds, limits.time),
      whole(ours.buffers),
      `${whole(byHand.buffers)}${ours.buffers > limits.buffers * byHand.buffers ? ' (!)' : ''}`,
      isDeepStrictEqual(ours.reads, byHand.reads) ? 'yes' : `no: ${ours.reads.join(', ')} (!)`,
      ours.keeps.length > byHand.keeps.length ? `${ours.keeps.join(', ')} (!)` : 'no',
    ]),
    1,
  );
}

/** A ratio, marked where it is over its limit. */
function shared(value: number, other: number, limit: number): string {
  return `${(value / other).toFixed(2)} ×${value > limit * other ? ' (!)' : ''}`;
}
