/**
 * The servers beside each other: every case, some of them over a growing number of connections, what each sends over the
 * database's wire, and their memory.
 */
import { type BenchCase, cases } from './cases.ts';
import type { BenchDatabase } from './database.ts';
import type { TargetResult } from './measure.ts';
import { measureStatements, type StatementResult } from './pgbench.ts';
import { residentMib } from './processes.ts';
import { measureStatementReuse, type StatementReuse } from './statement-reuse.ts';
import { type Contestant, type ContestantName, checkSameAnswers, startContestants } from './targets.ts';
import { measureInTurns } from './turns.ts';
import { measureWire, type WireResult } from './wire.ts';

/** What the servers were measured at, beside each other. */
export interface Comparison {
  readonly rows: readonly { readonly title: string; readonly targets: readonly TargetResult[] }[];
  readonly connections: readonly ConnectionsResult[];
  readonly memory: readonly MemoryResult[];
  readonly wire: readonly WireResult[];
  readonly statements: readonly StatementResult[];
  /** Null where it was not measured. */
  readonly statementReuse: StatementReuse | null;
}

/** One case under one number of connections of clients. */
export interface ConnectionsResult {
  readonly title: string;
  readonly sockets: number;
  readonly targets: readonly TargetResult[];
}

/** Resident memory in MiB: before any request, the most under load, and after all. */
export interface MemoryResult {
  readonly name: string;
  readonly idleMib: number;
  readonly loadMib: number;
  readonly afterMib: number;
}

/** What is compared, and how. */
export interface ComparisonOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly sockets: number;
  readonly poolSize: number;
  readonly cases: readonly BenchCase[];
  readonly names: readonly ContestantName[];
  readonly withConnections: boolean;
  readonly withStatements: boolean;
  readonly withStatementReuse: boolean;
}

/** Connections of clients, from one that waits for each answer to many more than there are processors and connections to the database. */
const socketCounts = [1, 8, 64, 256];
const sweptCases = ['one-row', 'rows-20', 'update-1'];

/** Starts the servers, checks that those who answer answer the same, and measures. */
export async function compare(db: BenchDatabase, options: ComparisonOptions): Promise<Comparison> {
  const { poolSize, seconds, names } = options;
  const contestants = await startContestants(names, { databaseUrl: db.loginUrl, poolSize });
  try {
    const idle = contestants.map(({ target }) => residentMib(target.pid));
    await checkSameAnswers(db, contestants);
    const rows: Comparison['rows'][number][] = [];
    for (const benchCase of options.cases)
      rows.push({ title: benchCase.title, targets: await measureInTurns(db, contestants, benchCase, options) });
    const connections = options.withConnections ? await measureConnections(db, contestants, options) : [];
    const memory = contestants.map(({ target: { name, pid } }, index) => ({
      name,
      idleMib: idle[index] ?? 0,
      loadMib: mostMemory(
        name,
        [...rows, ...connections].flatMap(({ targets }) => targets),
      ),
      afterMib: residentMib(pid),
    }));
    const wire = await measureWire(db, options);
    const statements = options.withStatements ? await measureStatements(db, options.cases, { poolSize, seconds }) : [];
    const statementReuse = options.withStatementReuse ? await measureStatementReuse(db, poolSize, seconds) : null;
    return { rows, connections, memory, wire, statements, statementReuse };
  } finally {
    for (const { target } of contestants) await target.stop();
  }
}

async function measureConnections(
  db: BenchDatabase,
  contestants: readonly Contestant[],
  options: ComparisonOptions,
): Promise<ConnectionsResult[]> {
  const results: ConnectionsResult[] = [];
  for (const benchCase of cases.filter(({ name }) => sweptCases.includes(name))) {
    for (const sockets of socketCounts) {
      const load = { ...options, sockets, seconds: Math.min(3, options.seconds), warmUpSeconds: 0.5 };
      const targets = await measureInTurns(db, contestants, benchCase, load);
      results.push({ title: benchCase.title, sockets, targets });
    }
  }
  return results;
}

function mostMemory(name: string, results: readonly TargetResult[]): number {
  return Math.max(0, ...results.filter((result) => result.name === name).map(({ loadMib }) => loadMib));
}
