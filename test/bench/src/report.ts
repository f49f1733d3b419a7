/**
 * Turns measurements into Markdown: a section for each table, under the name that its place in the documents has.
 */
import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { type AuthResult, authSockets } from './auth.ts';
import type { CacheBustingRow } from './cache-busting.ts';
import type { Comparison } from './compare.ts';
import type { Fsync } from './database.ts';
import { printGoals } from './goals.ts';
import type { SchemaResult } from './large-schema.ts';
import { type LiveResult, printLive } from './live.ts';
import { ratio, resultOf, table, whole } from './markdown.ts';
import type { OverloadRow } from './overload.ts';
import type { StatementResult } from './pgbench.ts';
import { type PlanModeResult, printPlanModes } from './plan-modes.ts';
import { type PlanResult, printPlans } from './plans.ts';
import { type PoolerResult, printPooler } from './pooler.ts';
import type { StatementReuse } from './statement-reuse.ts';

/** Where and how it was measured. */
export interface Conditions {
  /** As YYYY-MM-DD. */
  readonly date: string;
  /** Short name of the commit; with a plus where the tree had changes. */
  readonly commit: string;
  readonly machine: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly sockets: number;
  readonly poolSize: number;
  /** Of PostgreSQL. */
  readonly version: string;
  readonly fsync: Fsync;
}

/** Everything that was measured; null what was not. */
export interface Report extends Conditions {
  readonly comparison: Comparison | null;
  readonly related: Comparison['rows'] | null;
  readonly auth: AuthResult | null;
  readonly overload: readonly OverloadRow[] | null;
  readonly cacheBusting: readonly CacheBustingRow[] | null;
  readonly pooler: PoolerResult | null;
  readonly plans: readonly PlanResult[] | null;
  readonly planModes: readonly PlanModeResult[] | null;
  readonly live: LiveResult | null;
  readonly schemas: readonly SchemaResult[] | null;
}

/** This machine and this commit, now. */
export function describeHere(root: string): Pick<Conditions, 'date' | 'commit' | 'machine'> {
  const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim();
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', '--untracked-files=no') === '' ? '' : '+'}`,
    machine: `${cpus().length} virtual CPUs (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB`,
  };
}

/** Sections of the report by the names of their places; nothing for what was not measured. */
export function printSections(report: Report): ReadonlyMap<string, string> {
  const { comparison, related, auth, overload, cacheBusting, pooler, plans, planModes, live, schemas } = report;
  const here = printPlace(report);
  const sections: [string, string][] = [];
  if (comparison !== null) {
    const { rows, connections, memory, wire, statements, statementReuse } = comparison;
    sections.push(['bench', printSummary(report, comparison)]);
    sections.push(['goals', printGoals(comparison)]);
    sections.push(['cases', `${printConditions(report)}\n\n${printCases(rows)}`]);
    if (connections.length > 0) sections.push(['connections', printConnections(connections)]);
    sections.push(['memory', `${printMemory(memory)}\n${printPauses(rows)}`]);
    sections.push(['wire', printWire(wire)]);
    if (statements.length > 0) sections.push(['statements', printStatements(statements)]);
    if (statementReuse !== null) sections.push(['statement-reuse', `${printStatementReuse(statementReuse)}\n`]);
  }
  if (related !== null)
    sections.push([
      'related',
      `${printConditions(report)}\n\n${printCases(related)}\n${printGoals({ rows: related }, 3)}`,
    ]);
  if (auth !== null) sections.push(['auth bench', printAuth(auth)]);
  if (overload !== null) sections.push(['overload', `${here}\n\n${printOverload(overload)}`]);
  if (cacheBusting !== null) sections.push(['cache busting', `${here}\n\n${printCacheBusting(cacheBusting)}`]);
  if (pooler !== null) sections.push(['pooler', `${printConditions(report)}\n\n${printPooler(pooler)}`]);
  if (plans !== null) sections.push(['plans', `${here}\n\n${printPlans(plans)}`]);
  if (planModes !== null) sections.push(['plan modes', `${here}\n\n${printPlanModes(planModes)}`]);
  if (live !== null) sections.push(['live', `${here}\n\n${printLive(live)}`]);
  if (schemas !== null) sections.push(['schemas', `${here}\n\n${printSchemas(schemas)}`]);
  return new Map(sections);
}

/** What is shown at the end of a run. */
export function printReport(report: Report): string {
  return [...printSections(report)]
    .filter(([name]) => name !== 'bench')
    .map(([, text]) => text)
    .join('\n');
}

function printPlace({ date, commit, machine, version, fsync }: Conditions): string {
  return `Measured on ${date} at ${commit}: ${machine}, Node ${process.versions.node}, PostgreSQL ${version} with fsync ${fsync}.`;
}

function printConditions(conditions: Conditions): string {
  const { rounds, seconds, sockets, poolSize } = conditions;
  return (
    `${printPlace(conditions)} Median of ${rounds} × ${seconds} s, ${sockets} sockets, ${poolSize} database connections; ` +
    'client, servers and PostgreSQL share the machine.'
  );
}

function printCases(rows: Comparison['rows']): string {
  return table(
    ['case', 'server', 'requests/s', 'of PostGraphile', 'of baseline', 'p50 ms', 'p99 ms', 'p99.9 ms', 'gateway CPU µs', 'CPU of baseline', 'PostgreSQL CPU µs'], // biome-ignore format: one heading
    rows.flatMap(({ title, targets }) => {
      const other = resultOf(targets, 'postgraphile');
      const baseline = resultOf(targets, 'baseline');
      return targets.map((result, index) => [
        index === 0 ? title : '',
        result.name,
        whole(result.requestsPerSecond),
        ratio(result.requestsPerSecond, other?.requestsPerSecond),
        ratio(result.requestsPerSecond, baseline?.requestsPerSecond),
        result.p50Ms.toFixed(2),
        result.p99Ms.toFixed(2),
        result.p999Ms.toFixed(2),
        whole(result.cpuMicroseconds),
        ratio(result.cpuMicroseconds, baseline?.cpuMicroseconds),
        whole(result.databaseCpuMicroseconds),
      ]);
    }),
    2,
  );
}

function printConnections(connections: Comparison['connections']): string {
  return table(
    ['case', 'connections', 'server', 'requests/s', 'p50 ms', 'p99 ms', 'p99.9 ms'],
    connections.flatMap(({ title, sockets, targets }) =>
      targets.map(({ name, requestsPerSecond, p50Ms, p99Ms, p999Ms }, index) => [
        index === 0 ? title : '',
        index === 0 ? String(sockets) : '',
        name,
        whole(requestsPerSecond),
        ...[p50Ms, p99Ms, p999Ms].map((each) => each.toFixed(2)),
      ]),
    ),
    3,
  );
}

function printMemory(memory: Comparison['memory']): string {
  return table(
    ['server', 'idle MiB', 'most under load MiB', 'after the run MiB'],
    memory.map(({ name, idleMib, loadMib, afterMib }) => [name, ...[idleMib, loadMib, afterMib].map(String)]),
    1,
  );
}

/** Of those who make the answers: what the collector takes of a second, and the longest it stops one. */
function printPauses(rows: Comparison['rows']): string {
  const shown = ['pgreflect', 'postgraphile', 'baseline'];
  return table(
    ['garbage collection', ...shown.flatMap((name) => [`${name}, ms of a second`, 'longest ms'])],
    rows.map(({ title, targets }) => [
      title,
      ...shown
        .map((name) => resultOf(targets, name))
        .flatMap((result) => [result?.pausedMsPerSecond.toFixed(1) ?? '-', result?.longestPauseMs.toFixed(1) ?? '-']),
    ]),
    1,
  );
}

function printWire(wire: Comparison['wire']): string {
  return table(
    ['case', 'server', 'bytes to PostgreSQL', 'bytes from it', 'round trips', 'round trips, 16 clients'],
    wire.map(({ title, name, ...each }, index) => [
      wire[index - 1]?.title === title ? '' : title,
      name,
      whole(each.bytesToServer),
      whole(each.bytesToClient),
      each.roundTrips.toFixed(2),
      each.sharedRoundTrips.toFixed(2),
    ]),
    2,
  );
}

function printOverload(rows: readonly OverloadRow[]): string {
  return table(
    ['case', 'peak requests/s', 'p99 at the peak ms', 'offered', 'answered', 'of peak', 'p99 ms', 'of p99 at the peak', 'refused', 'p99 of refusals ms', 'recovered after ms', 'answered at 1 ×', 'CPUs: gateway', 'PostgreSQL', 'clients'], // biome-ignore format: one heading
    rows.map((row) => [
      row.title,
      ...[whole(row.peakRate), row.peakP99Ms.toFixed(1), whole(row.offeredRate)],
      ...[whole(row.answeredRate), ratio(row.answeredRate, row.peakRate)],
      ...[row.answeredP99Ms.toFixed(1), ratio(row.answeredP99Ms, row.peakP99Ms)],
      ...[whole(row.refusedRate), row.refusedP99Ms.toFixed(1), whole(row.recoveryMs)],
      ratio(row.openRate, row.peakRate),
      ...[row.work.gateway.toFixed(2), row.work.database.toFixed(2), row.work.clients.toFixed(2)],
    ]),
    1,
  );
}

function printCacheBusting(rows: readonly CacheBustingRow[]): string {
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  return table(
    ['never the same', 'requests', 'memory before MiB', 'after MiB', 'statements of a connection', 'hits alone', 'hits under load', 'p50 alone ms', 'p50 under load', 'p99 alone ms', 'p99 under load'], // biome-ignore format: one heading
    rows.map((row) => [
      ...[row.title, whole(row.requests), String(row.beforeMib), String(row.afterMib), String(row.statements)],
      ...[percent(row.aloneHitRate), percent(row.besideHitRate)],
      ...[row.aloneP50Ms.toFixed(2), ratio(row.besideP50Ms, row.aloneP50Ms)],
      ...[row.aloneP99Ms.toFixed(2), ratio(row.besideP99Ms, row.aloneP99Ms)],
    ]),
    1,
  );
}

/** The auth service. */
export function printAuth({ rows, burst, email }: AuthResult): string {
  return [
    table(
      [`auth service, ${authSockets} sockets`, 'requests/s', 'goal', 'p50 ms', 'p99 ms', 'gateway CPU µs', 'PostgreSQL CPU µs'], // biome-ignore format: one heading
      rows.map(({ title, goal, result }) => [
        title,
        whole(result.requestsPerSecond),
        goal === null ? '-' : whole(goal),
        result.p50Ms.toFixed(1),
        result.p99Ms.toFixed(1),
        whole(result.cpuMicroseconds),
        whole(result.databaseCpuMicroseconds),
      ]),
      1,
    ),
    `${burst.signIns} sign-ins with a password at once took ${burst.seconds.toFixed(1)} s. Meanwhile the p99 of ` +
      `${whole(burst.requestsPerSecond)} GraphQL requests/s was ${burst.burstP99Ms.toFixed(1)} ms, and ` +
      `${burst.quietP99Ms.toFixed(1)} ms without them.`,
    '',
    `A second of processor time makes ${whole(email.messagesPerSecond)} messages of the 13 built-in emails in nine ` +
      `languages (goal 100,000), and ${whole(email.ownLayoutPerSecond)} with a layout of the project. Reading a template ` +
      `of 100 KB takes ${email.parseMs.toFixed(1)} ms (goal 20).`,
    '',
  ].join('\n');
}

/** Cases that the README names. */
const summarized = ['one row by key', '20 rows, filtered and ordered', 'nested 10 × 5 × 5', 'insert one row'];

/** A few lines for the README; docs/performance.md and test/bench/results.md have the rest. */
function printSummary(conditions: Conditions, { rows }: Comparison): string {
  const lines = rows.flatMap(({ title, targets }) => {
    const [ours, other] = ['pgreflect', 'postgraphile'].map((name) => resultOf(targets, name)?.requestsPerSecond);
    return summarized.includes(title)
      ? [`- ${title}: ${whole(ours)} requests/s, ${ratio(ours, other)} PostGraphile 5`]
      : [];
  });
  return `${printPlace(conditions)} Clients, servers and PostgreSQL share the machine.\n\n${lines.join('\n')}\n`;
}

function printStatementReuse({ operations, hitRate, beforeMib, afterMib, requests }: StatementReuse): string {
  return (
    `${operations} different operations in turn: ${(100 * hitRate).toFixed(1)} % of ${requests.toLocaleString('en')} ` +
    `requests found their statements prepared; memory ${beforeMib} MiB before, ${afterMib} MiB after.`
  );
}

function printStatements(statements: readonly StatementResult[]): string {
  return table(
    ['case', 'statement', 'per second', 'PostgreSQL CPU µs', 'of by hand'],
    statements.map(({ title, statement, perSecond, cpuMicroseconds }) => {
      const byHand = statements.find((each) => each.title === title && each.statement === 'by hand');
      const share = ratio(cpuMicroseconds, byHand?.cpuMicroseconds);
      return [title, statement, whole(perSecond), whole(cpuMicroseconds), share];
    }),
    2,
  );
}

function printSchemas(schemas: readonly SchemaResult[]): string {
  const seconds = (value: number | null) => (value === null ? '' : value.toFixed(2));
  const waits = (value: SchemaResult['commentWaits']) =>
    value === null ? '' : `${whole(value.p99)}, ${whole(value.longest)}`;
  return table(
    ['tables', 'server', 'idle MiB', 'CPU s to the first answer', 'of PostgreSQL', 'MiB after it', 'CPU s after a new comment', 'after a new table', 'introspection MB', 'CPU s of it', 'again', 'longest hold ms', 'after changes', 'others meanwhile, p99 and longest ms: comment', 'table', 'introspection', 'MiB after all'], // biome-ignore format: one heading
    schemas.map((each) => [
      whole(each.tables),
      each.server,
      whole(each.idleMib),
      seconds(each.firstCpuSeconds),
      seconds(each.firstDatabaseSeconds),
      whole(each.firstMib),
      seconds(each.commentCpuSeconds),
      seconds(each.tableCpuSeconds),
      each.introspectionMb.toFixed(1),
      seconds(each.introspectionCpuSeconds),
      seconds(each.introspectionAgainSeconds),
      whole(each.holdMs),
      whole(each.reloadHoldMs),
      ...[each.commentWaits, each.tableWaits, each.introspectionWaits].map(waits),
      whole(each.afterMib),
    ]),
    2,
  );
}
