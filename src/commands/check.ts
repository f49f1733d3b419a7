/**
 * `pgreflect check`: connects, looks at roles, grants, row security, foreign keys and comment directives, and reports what
 * is wrong or worth a thought, each with the SQL that changes it. Changes nothing.
 */
import type { Catalog } from '../catalog/catalog.ts';
import { readCatalog } from '../catalog/read-catalog.ts';
import { loadOptionsOrThrow } from '../config/load-options.ts';
import type { SystemPool } from '../database/run-system.ts';
import { buildModel } from '../model/build-model.ts';
import type { Model } from '../model/model.ts';
import type { Command, CommandContext } from './command.ts';
import { readSqlFile } from './package-files.ts';
import { findProblems } from './preflight.ts';
import { requireDatabaseUrl } from './read-model.ts';
import { withDatabase } from './with-database.ts';

/** The command `pgreflect check`. */
export const check: Command = {
  name: 'check',
  summary: 'Report what is wrong with a database or worth a thought, with the SQL that changes it.',
  operand: null,
  flags: [],
  notes: `Exit code 1 when there is an error; warnings and notes do not count. Changes nothing.

Example:
  pgreflect check --database-url postgresql://authenticator:PASSWORD@localhost:5432/shop`,
  run: runCheck,
};

/** One line of the report. Errors keep the API from working; warnings may be meant so. */
interface Finding {
  readonly level: 'error' | 'warning' | 'note';
  readonly text: string;
  readonly fix: string | null;
}

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
    const { problems, warnings } = await findProblems(pool, preflight);
    const catalog = await readCatalog(pool, { schemas, roles });
    return [
      ...problems.map(({ problem, fix }): Finding => ({ level: 'error', text: problem, fix })),
      ...warnings.map(({ problem, fix }): Finding => ({ level: 'warning', text: problem, fix })),
      ...checkModels(catalog, roles),
      ...(await checkTables(pool, catalog)),
      ...checkTrigger(catalog),
    ];
  });
  return report(findings, context);
}

function report(findings: readonly Finding[], context: CommandContext): number {
  const count = { error: 0, warning: 0, note: 0 };
  for (const level of ['error', 'warning', 'note'] as const) {
    for (const { text, fix } of findings.filter((finding) => finding.level === level)) {
      count[level] += 1;
      context.print(`${level.padEnd(7)}  ${text}`);
      if (fix !== null) context.print(fix.replaceAll(/^/gm, '           '));
    }
  }
  context.print(`${plural(count.error, 'error')}, ${plural(count.warning, 'warning')}, ${plural(count.note, 'note')}.`);
  return count.error === 0 ? 0 : 1;
}

/** What each role sees, what is left out of it and why. Equal sentences of several roles become one. */
function checkModels(catalog: Catalog, roles: readonly string[]): readonly Finding[] {
  const notes: Finding[] = [];
  const errors = new Map<string, Finding>();
  const warnings = new Map<string, Finding>();
  for (const role of roles) {
    if (!catalog.roles.has(role)) continue;
    const model = buildModel(catalog, role);
    notes.push({ level: 'note', text: describeRole(role, model), fix: null });
    if (model.namespaces.length === 0) notes.push(withoutUsage(role, catalog));
    if (model.directiveError !== null) {
      const { object, problem } = model.directiveError;
      errors.set(object, {
        level: 'error',
        text: `The comment directive of ${object} is malformed: ${problem}`,
        fix: null,
      });
    }
    for (const { reason, fix } of model.warnings)
      warnings.set(reason, { level: 'warning', text: reason, fix: fix && withSemicolon(fix) });
  }
  return [...errors.values(), ...warnings.values(), ...notes];
}

function withoutUsage(role: string, catalog: Catalog): Finding {
  const schemas = catalog.namespaces.map(({ nspname }) => nspname).join(', ');
  const text = `Role "${role}" has no usage on any exposed schema, so its API is empty.`;
  return { level: 'warning', text, fix: schemas === '' ? null : `grant usage on schema ${schemas} to "${role}";` };
}

function describeRole(role: string, model: Model): string {
  const tables = [...model.tables.values()];
  const number = (key: 'insert' | 'update' | 'delete') => tables.filter((table) => table[key]).length;
  const functions = [...model.routines.values()].filter(({ use }) => use !== 'computed').length;
  return (
    `Role "${role}" reads ${plural(tables.length, 'table')}, inserts into ${number('insert')}, updates ${number('update')}, ` +
    `deletes from ${number('delete')}, and calls ${plural(functions, 'function')}.`
  );
}

async function checkTables(pool: SystemPool, catalog: Catalog): Promise<readonly Finding[]> {
  const schemas = catalog.namespaces.map(({ nspname }) => nspname);
  const open = await pool.query(readSqlFile('roles-open-tables.sql'), [JSON.stringify({ schemas })]);
  const unindexed = await pool.query(readSqlFile('check-foreign-keys.sql'), [schemas]);
  return [
    ...open.map(({ name, why, fix }): Finding => {
      const text = `Row security does not guard ${name} (${why}): a role with a grant reaches every row.`;
      return { level: 'warning', text, fix: fix === null ? null : withSemicolon(String(fix)) };
    }),
    ...unindexed.map(({ name, constraint, fix }): Finding => {
      const text = `No index serves the foreign key "${constraint}" of ${name}, so nested collections over it read the whole table.`;
      return { level: 'warning', text, fix: withSemicolon(String(fix)) };
    }),
  ];
}

function checkTrigger({ watched }: Catalog): readonly Finding[] {
  if (watched) return [];
  const text = 'The schema-change trigger is not installed; changes are found by asking, once per --schema-poll-ms.';
  return [{ level: 'note', text, fix: 'pgreflect init --watch' }];
}

function plural(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function withSemicolon(statement: string): string {
  return statement.endsWith(';') ? statement : `${statement};`;
}
