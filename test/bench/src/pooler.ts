/**
 * The gateway behind PgBouncer in transaction mode beside the gateway straight at PostgreSQL, with and without prepared
 * statements: so what the pooler costs and what it costs to do without them can be told apart.
 */
import { cases } from './cases.ts';
import type { BenchDatabase } from './database.ts';
import { ratio, table, whole } from './markdown.ts';
import type { TargetResult } from './measure.ts';
import { type PgBouncer, startPgBouncer } from './pgbouncer.ts';
import { type Contestant, checkSameAnswers, startOurs } from './targets.ts';
import { measureInTurns, type TurnLoad } from './turns.ts';

/** What was measured, and with which PgBouncer. */
export interface PoolerResult {
  readonly version: string;
  readonly rows: readonly { readonly title: string; readonly targets: readonly TargetResult[] }[];
}

const chosen = ['one-row', 'rows-20', 'update-1'];
const unprepared = ['--prepared-statements', 'false'];

/** Measures; null where PgBouncer is not installed. */
export async function measurePooler(
  db: BenchDatabase,
  load: TurnLoad & { readonly poolSize: number },
): Promise<PoolerResult | null> {
  const pooler = await startPgBouncer(db.loginUrl, load.poolSize);
  if (pooler === null) {
    console.error('PgBouncer is not installed; the gateway behind it is not measured.');
    return null;
  }
  const contestants: Contestant[] = [];
  try {
    const direct = { databaseUrl: db.loginUrl, poolSize: load.poolSize };
    contestants.push(await startOurs({ ...direct, name: 'direct' }));
    contestants.push(await startOurs({ ...direct, name: 'direct, unprepared', more: unprepared }));
    contestants.push(await startBehind(pooler, load.poolSize));
    await checkSameAnswers(db, contestants);
    const rows: PoolerResult['rows'][number][] = [];
    for (const benchCase of cases.filter(({ name }) => chosen.includes(name)))
      rows.push({ title: benchCase.title, targets: await measureInTurns(db, contestants, benchCase, load) });
    return { version: pooler.version, rows };
  } finally {
    for (const { target } of contestants) await target.stop();
    await pooler.stop();
  }
}

async function startBehind({ url, pid, keepsStatements }: PgBouncer, poolSize: number): Promise<Contestant> {
  const name = keepsStatements ? 'behind PgBouncer' : 'behind PgBouncer, unprepared';
  const more = keepsStatements ? [] : unprepared;
  const contestant = await startOurs({ databaseUrl: url, poolSize, name, more });
  return { ...contestant, target: { ...contestant.target, poolerPid: pid } };
}

/** Each case's ways beside each other. */
export function printPooler({ version, rows }: PoolerResult): string {
  return table(
    ['case', `gateway and PgBouncer ${version}`, 'requests/s', 'of direct', 'p50 ms', 'p99 ms', 'gateway CPU µs', 'PgBouncer CPU µs', 'PostgreSQL CPU µs'], // biome-ignore format: one heading
    rows.flatMap(({ title, targets }) =>
      targets.map((result, index) => [
        index === 0 ? title : '',
        result.name,
        whole(result.requestsPerSecond),
        ratio(result.requestsPerSecond, targets[0]?.requestsPerSecond),
        result.p50Ms.toFixed(2),
        result.p99Ms.toFixed(2),
        whole(result.cpuMicroseconds),
        whole(result.poolerCpuMicroseconds),
        whole(result.databaseCpuMicroseconds),
      ]),
    ),
    2,
  );
}
