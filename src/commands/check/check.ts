/**
 * `pgreflect check`: connects, looks at the API, at what guards its rows and at what will make it slow, and reports what is
 * wrong or worth a thought, each with the SQL that changes it. Changes nothing.
 */
import { readCatalog } from '../../catalog/read-catalog.ts';
import { loadOptionsOrThrow } from '../../config/load-options.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { onOneLine, pasteable } from '../../shared/one-line.ts';
import type { Command, CommandContext } from '../command.ts';
import { findProblems } from '../preflight.ts';
import { requireDatabaseUrl } from '../read-model.ts';
import { withDatabase } from '../with-database.ts';
import { checkModels, checkTrigger, describePreflight, plural } from './check-api.ts';
import { securityChecks } from './check-security.ts';
import { speedChecks } from './check-speed.ts';
import type { CheckScope, Finding, Severity } from './finding.ts';

/** The command `pgreflect check`. */
export const check: Command = {
  name: 'check',
  summary: 'Report problems of a database, with the SQL that fixes them.',
  flags: [{ flag: 'json', doc: 'Print the report as one JSON object.' }],
  notes: `Exits with 1 if there is an error; warnings and notes do not count. Read-only.

Examples:
  pgreflect check --database-url postgresql://authenticator:PASSWORD@localhost:5432/shop
  pgreflect check --json > report.json      # in CI`,
  run: runCheck,
};

const unprintable = '-- The fix contains control characters, see: pgreflect check --json';

const severities: readonly Severity[] = ['error', 'warning', 'note'];

const names = ['databaseUrl', 'schemas', 'anonRole', 'authenticatedRole', 'serviceRole', 'allowedRoles'] as const;

async function runCheck(context: CommandContext): Promise<number> {
  const { values } = loadOptionsOrThrow(names, context.sources);
  const databaseUrl = requireDatabaseUrl(values.databaseUrl);
  const [anonRole, authenticatedRole, serviceRole] = [values.anonRole!, values.authenticatedRole!, values.serviceRole!];
  const usual = [anonRole, authenticatedRole, serviceRole];
  const { schemas } = values;
  const allowedRoles = values.allowedRoles ?? usual;
  const roles = [...new Set([...usual, ...(allowedRoles === '*' ? [] : allowedRoles)])];
  const findings = await withDatabase(databaseUrl, async (pool) => {
    const preflight = { databaseUrl, schemas, anonRole, authenticatedRole, serviceRole, allowedRoles };
    const setup = await findProblems(pool, preflight);
    const catalog = await readCatalog(pool, { schemas });
    const scope = {
      schemas: catalog.namespaces.map(({ nspname }) => nspname),
      roles: roles.filter((role) => role !== serviceRole),
    };
    return [
      ...describePreflight(setup),
      ...(await runChecks(pool, scope)),
      ...checkModels(catalog, roles),
      ...checkTrigger(catalog),
    ];
  });
  const sorted = severities.flatMap((severity) => findings.filter((finding) => finding.severity === severity));
  if (context.flags.json) printJson(sorted, context);
  else printText(sorted, context);
  return sorted.some(({ severity }) => severity === 'error') ? 1 : 0;
}

/** Runs every check at one snapshot, in a transaction that cannot write. */
function runChecks(pool: SystemPool, scope: Omit<CheckScope, 'session'>): Promise<readonly Finding[]> {
  return pool.transaction(
    async (session) => {
      const findings: Finding[] = [];
      for (const find of [...securityChecks, ...speedChecks]) findings.push(...(await find({ ...scope, session })));
      return findings;
    },
    { begin: 'begin isolation level repeatable read read only' },
  );
}

function printText(findings: readonly Finding[], context: CommandContext): void {
  for (const { severity, message, fix } of findings) {
    context.print(`${severity.padEnd(7)}  ${onOneLine(message)}`);
    if (fix !== null) context.print((pasteable(fix) ?? unprintable).replaceAll(/^/gm, '           '));
  }
  const { error, warning, note } = countFindings(findings);
  context.print(`${plural(error, 'error')}, ${plural(warning, 'warning')}, ${plural(note, 'note')}.`);
}

function printJson(findings: readonly Finding[], context: CommandContext): void {
  const { error, warning, note } = countFindings(findings);
  context.print(JSON.stringify({ errors: error, warnings: warning, notes: note, findings }, null, 2));
}

function countFindings(findings: readonly Finding[]): Readonly<Record<Severity, number>> {
  const count = (severity: Severity) => findings.filter((finding) => finding.severity === severity).length;
  return { error: count('error'), warning: count('warning'), note: count('note') };
}
