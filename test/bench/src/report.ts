/**
 * Turns measurements into Markdown: one table for the servers, one for memory, one for the bare statements.
 */
import { cpus, totalmem } from 'node:os';
import { type AuthResult, authSockets } from './auth.ts';
import type { OverloadRow } from './overload.ts';
import type { StatementResult } from './pgbench.ts';
import type { ShapesResult } from './shapes.ts';

/** One server on one case; times of CPU are per request. */
export interface TargetResult {
  readonly name: string;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMicroseconds: number;
  readonly databaseCpuMicroseconds: number;
}

/** What the servers were measured at, beside each other. */
export interface Comparison {
  readonly rows: readonly { readonly title: string; readonly targets: readonly TargetResult[] }[];
  readonly memory: readonly { readonly name: string; readonly idleMib: number; readonly afterMib: number }[];
  readonly statements: readonly StatementResult[];
  /** Null where it was not measured. */
  readonly shapes: ShapesResult | null;
}

/** Everything that was measured; null what was not. */
export interface Report {
  readonly rounds: number;
  readonly seconds: number;
  readonly sockets: number;
  readonly poolSize: number;
  /** Of PostgreSQL. */
  readonly version: string;
  readonly comparison: Comparison | null;
  readonly auth: AuthResult | null;
  readonly overload: readonly OverloadRow[] | null;
}

/** The middle value; the mean of the two middle ones for an even count. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

/** The report as Markdown. */
export function printReport(report: Report): string {
  const { comparison, auth, overload } = report;
  return [
    printConditions(report),
    '',
    ...(comparison === null ? [] : [...printComparison(comparison), '']),
    ...(auth === null ? [] : [printAuth(auth)]),
    ...(overload === null ? [] : printOverload(overload)),
  ].join('\n');
}

function printComparison({ rows, memory, statements, shapes }: Comparison): string[] {
  return [
    '| case | server | requests/s | of PostGraphile | p50 ms | p99 ms | server CPU µs | of floor | PostgreSQL CPU µs |',
    '|---|---|---:|---:|---:|---:|---:|---:|---:|',
    ...rows.flatMap(printCase),
    '',
    '| server | memory idle MiB | after the run MiB |',
    '|---|---:|---:|',
    ...memory.map(({ name, idleMib, afterMib }) => `| ${name} | ${idleMib} | ${afterMib} |`),
    ...printStatements(statements),
    ...printShapes(shapes),
  ];
}

function printOverload(rows: readonly OverloadRow[]): string[] {
  return [
    '| twice what it can do | peak requests/s | p99 ms | offered | answered | of peak | p99 ms | of that at the peak | refused | p99 ms | recovered after ms |',
    '|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|',
    ...rows.map((row) =>
      printRow([
        row.title,
        ...[whole(row.peakRate), row.peakP99Ms.toFixed(1), whole(row.offeredRate)],
        ...[whole(row.answeredRate), ratio(row.answeredRate, row.peakRate)],
        ...[row.answeredP99Ms.toFixed(1), ratio(row.answeredP99Ms, row.peakP99Ms)],
        ...[whole(row.refusedRate), row.refusedP99Ms.toFixed(1), whole(row.recoveryMs)],
      ]),
    ),
    '',
  ];
}

/** The auth service, for report and README. */
export function printAuth({ rows, burst, email }: AuthResult): string {
  return [
    `| auth service, ${authSockets} sockets | requests/s | goal | p50 ms | p99 ms | gateway CPU µs | PostgreSQL CPU µs |`,
    '|---|---:|---:|---:|---:|---:|---:|',
    ...rows.map(({ title, goal, result }) =>
      printRow([
        title,
        whole(result.requestsPerSecond),
        goal === null ? '-' : whole(goal),
        result.p50Ms.toFixed(1),
        result.p99Ms.toFixed(1),
        whole(result.cpuMicroseconds),
        whole(result.databaseCpuMicroseconds),
      ]),
    ),
    '',
    `${burst.signIns} sign-ins with a password at once took ${burst.seconds.toFixed(1)} s; the p99 of ` +
      `${whole(burst.requestsPerSecond)} GraphQL requests/s beside them was ${burst.burstP99Ms.toFixed(1)} ms, and ` +
      `${burst.quietP99Ms.toFixed(1)} ms without them.`,
    '',
    `One processor makes ${whole(email.messagesPerSecond)} messages/s of the 13 built-in templates (goal 20,000) and reads ` +
      `a template of 100 KB in ${email.parseMs.toFixed(1)} ms (goal 20).`,
    '',
  ].join('\n');
}

/** One line a case, for the README: what one gets, and what PostgreSQL does for it beside the best SQL by hand. */
export function printSummary(report: Report, { rows, memory, statements, shapes }: Comparison): string {
  const own = memory.find(({ name }) => name === 'pgreflect');
  return [
    printConditions(report),
    '',
    '| case | requests/s | PostGraphile 5 | ratio | p99 ms | gateway CPU µs | bare server | PostgreSQL CPU: ours / by hand |',
    '|---|---:|---:|---:|---:|---:|---:|---:|',
    ...rows.map(({ title, targets }) => {
      const [ours, other, floor] = ['pgreflect', 'postgraphile', 'floor'].map((name) => resultOf(targets, name));
      const [used, byHand] = (['pgreflect', 'by hand'] as const).map((statement) =>
        statements.find((each) => each.title === title && each.statement === statement),
      );
      return printRow([
        title,
        whole(ours?.requestsPerSecond),
        whole(other?.requestsPerSecond),
        ratio(ours?.requestsPerSecond, other?.requestsPerSecond),
        ours?.p99Ms.toFixed(1) ?? '-',
        whole(ours?.cpuMicroseconds),
        whole(floor?.cpuMicroseconds),
        ratio(used?.cpuMicroseconds, byHand?.cpuMicroseconds),
      ]);
    }),
    '',
    `Memory of the gateway: ${own?.idleMib ?? '-'} MiB idle, ${own?.afterMib ?? '-'} MiB after all of this.`,
    ...printShapes(shapes),
    '',
  ].join('\n');
}

function printConditions({ rounds, seconds, sockets, poolSize, version }: Report): string {
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB`;
  return (
    `Measured on ${new Date().toISOString().slice(0, 10)}: ${machine}, Node ${process.versions.node}, PostgreSQL ${version} without fsync. ` +
    `Median of ${rounds} × ${seconds} s, ${sockets} sockets, ${poolSize} database connections; client, servers and PostgreSQL ` +
    'share the machine.'
  );
}

function printShapes(shapes: ShapesResult | null): string[] {
  if (shapes === null) return [];
  const { hitRate, beforeMib, afterMib, requests } = shapes;
  return [
    '',
    `${shapes.shapes} operations of different shapes in turn: ${(100 * hitRate).toFixed(1)} % of ${requests.toLocaleString('en')} ` +
      `requests found their statements prepared; memory ${beforeMib} MiB before, ${afterMib} MiB after.`,
  ];
}

function resultOf(targets: readonly TargetResult[], name: string): TargetResult | undefined {
  return targets.find((each) => each.name === name);
}

function whole(value: number | undefined): string {
  return value === undefined ? '-' : Math.round(value).toLocaleString('en');
}

function ratio(value: number | undefined, other: number | undefined): string {
  return value === undefined || !other ? '-' : `${(value / other).toFixed(2)} ×`;
}

function printRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function printCase({ title, targets }: Comparison['rows'][number]): string[] {
  const other = resultOf(targets, 'postgraphile');
  const floor = resultOf(targets, 'floor');
  return targets.map((result, index) =>
    printRow([
      index === 0 ? title : '',
      result.name,
      whole(result.requestsPerSecond),
      ratio(result.requestsPerSecond, other?.requestsPerSecond),
      result.p50Ms.toFixed(2),
      result.p99Ms.toFixed(2),
      whole(result.cpuMicroseconds),
      ratio(result.cpuMicroseconds, floor?.cpuMicroseconds),
      whole(result.databaseCpuMicroseconds),
    ]),
  );
}

function printStatements(statements: readonly StatementResult[]): string[] {
  if (statements.length === 0) return [];
  return [
    '',
    'The statements alone, prepared, through pgbench:',
    '',
    '| case | statement | per second | PostgreSQL CPU µs | of by hand |',
    '|---|---|---:|---:|---:|',
    ...statements.map(({ title, statement, perSecond, cpuMicroseconds }) => {
      const byHand = statements.find((each) => each.title === title && each.statement === 'by hand');
      const share = ratio(cpuMicroseconds, byHand?.cpuMicroseconds);
      return printRow([title, statement, whole(perSecond), whole(cpuMicroseconds), share]);
    }),
  ];
}
