/**
 * The servers beside each other at reads over related rows, in a schema of their own; PostGraphile with its plugins for them.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchCase } from './cases.ts';
import type { Comparison } from './compare.ts';
import type { BenchDatabase } from './database.ts';
import { type ContestantName, checkSameAnswers, startContestants } from './targets.ts';
import { measureInTurns, type TurnLoad } from './turns.ts';

/** What is compared, and how. */
export interface RelatedOptions extends TurnLoad {
  readonly poolSize: number;
  readonly cases: readonly BenchCase[];
  readonly names: readonly ContestantName[];
}

/** Makes the tables, starts the servers, checks that those who answer answer the same, and measures. */
export async function measureRelated(db: BenchDatabase, options: RelatedOptions): Promise<Comparison['rows']> {
  await db.run([readFileSync(join(import.meta.dirname, '../sql/related.sql'), 'utf8'), 'vacuum analyze']);
  const { cases, names, poolSize } = options;
  const contestants = await startContestants(names, { databaseUrl: db.loginUrl, poolSize, schema: 'related' });
  try {
    await checkSameAnswers(db, contestants, cases);
    const rows: Comparison['rows'][number][] = [];
    for (const benchCase of cases)
      rows.push({ title: benchCase.title, targets: await measureInTurns(db, contestants, benchCase, options) });
    return rows;
  } finally {
    for (const { target } of contestants) await target.stop();
  }
}
