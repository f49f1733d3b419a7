/**
 * `pgreflect explain`: prints the SQL of an operation as a script that psql runs, and PostgreSQL's plan for it under the
 * role. Everything happens in a transaction that is rolled back; only `--analyze` executes the statements.
 */
import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { readCatalog } from '../catalog/read-catalog.ts';
import { coerceVariables } from '../compile/document-variables.ts';
import { bindSlots } from '../compile/slot.ts';
import { defaultConfig } from '../config/config.ts';
import { loadOptionsOrThrow } from '../config/load-options.ts';
import type { SystemPool, SystemSession } from '../database/run-system.ts';
import { buildSettings } from '../database/settings.ts';
import { Reflection, type RoleReflection } from '../execute/reflection.ts';
import { readRequest } from '../http/read-request.ts';
import { PublicError } from '../shared/errors.ts';
import { type Command, type CommandContext, CommandError, flagText, refuse } from './command.ts';
import { requireDatabaseUrl } from './read-model.ts';
import { withDatabase } from './with-database.ts';

/** The command `pgreflect explain`. */
export const explain: Command = {
  name: 'explain',
  summary: "Print the SQL of an operation and PostgreSQL's plan for it.",
  operand: 'FILE.graphql',
  flags: [
    { flag: 'role', placeholder: 'ROLE', doc: 'Under which role; by default the anon role.' },
    { flag: 'variables', placeholder: 'JSON', doc: 'Values of the variables, a JSON object.' },
    { flag: 'operation', placeholder: 'NAME', doc: 'Which operation, where the file has several.' },
    { flag: 'claims', placeholder: 'JSON', doc: 'Claims that policies see in request.jwt.claims.' },
    { flag: 'analyze', placeholder: null, doc: 'Execute it for real times; its writes are rolled back.' },
  ],
  notes: `The output is a script for psql; plans are comments in it.

Example:
  pgreflect explain query.graphql --role authenticated --variables '{"id": "3"}' --analyze`,
  run: runExplain,
};

const names = [
  'databaseUrl',
  'schemas',
  'anonRole',
  'serviceRole',
  'extraSearchPath',
  'variablePositions',
  'statementTimeoutMs',
] as const;

async function runExplain(context: CommandContext): Promise<number> {
  const { values } = loadOptionsOrThrow(names, context.sources);
  if (context.operand === null) refuse('No file is named.', 'pgreflect explain FILE.graphql');
  const request = readOperation(context.operand, context);
  const role = flagText(context, 'role') ?? values.anonRole!;
  const url = requireDatabaseUrl(values.databaseUrl);
  await withDatabase(url, async (pool) => {
    const readSince = performance.now();
    const catalog = await readCatalog(pool, { schemas: values.schemas, roles: [role] });
    const options = {
      introspection: 'directive',
      serviceRole: values.serviceRole!,
      extraSearchPath: values.extraSearchPath ?? [],
      statementTimeoutMs: values.statementTimeoutMs!,
      strictVariablePositions: values.variablePositions === 'strict',
      maxResponseBytes: defaultConfig.limits.maxResponseBytes,
    } as const;
    const reflection = new Reflection(catalog, readSince, options, null).role(role);
    if (reflection === null) refuse(`There is no role "${role}" in the database.`, 'Check --role.');
    await printOperation(pool, { context, reflection, statements: compile(reflection, request) });
  });
  return 0;
}

type Request = ReturnType<typeof readRequest>;

function readOperation(file: string, context: CommandContext): Request {
  let query: string;
  try {
    query = readFileSync(isAbsolute(file) ? file : join(context.sources.workingDirectory, file), 'utf8');
  } catch (error) {
    refuse(
      `"${file}" cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`,
      'Check the name.',
    );
  }
  const operationName = flagText(context, 'operation');
  // Joined as text, so that big integers reach the reader of request bodies as they were written.
  const variables = flagText(context, 'variables') ?? 'null';
  try {
    return readRequest(`${JSON.stringify({ query, operationName }).slice(0, -1)},"variables":${variables}}`);
  } catch {
    refuse('--variables must be a JSON object.', `--variables '{"id": "3"}'`);
  }
}

interface BoundStatement {
  readonly text: string;
  readonly values: readonly (string | null)[];
}

/** Refusals of the operation are the command's. */
function compile({ shared }: RoleReflection, request: Request): readonly BoundStatement[] {
  const { directiveError } = shared.model;
  if (directiveError !== null)
    refuse(`The comment directive of ${directiveError.object} is malformed: ${directiveError.problem}`);
  const document = shared.documents.prepare(request.query, null);
  if (document.kind === 'refused') throw refusal(document.errors);
  try {
    const { operation, places, compiler } = shared.documents.choose(document, request.operationName);
    const asked = { values: request.variables ?? {}, suggestions: true };
    const coerced = coerceVariables(shared.schema, operation, places, asked);
    if (coerced.kind === 'refused') throw refusal(coerced.errors);
    const compiled = compiler.compile(coerced.variables);
    if (compiled.errors.length > 0) throw refusal(compiled.errors);
    if (compiled.introspectionKeys.length > 0)
      refuse('Introspection is answered without SQL.', 'Leave __schema and __type out.');
    const source = { variables: coerced.variables, introspection: new Map<string, string>() };
    return compiled.statements.map(({ text, slots }) => ({ text, values: bindSlots(slots, source) }));
  } catch (error) {
    throw error instanceof PublicError ? refusal([error]) : error;
  }
}

function refusal(errors: readonly Error[]): CommandError {
  return new CommandError(errors.map(({ message }) => ({ problem: message, fix: null })));
}

interface Explanation {
  readonly context: CommandContext;
  readonly reflection: RoleReflection;
  readonly statements: readonly BoundStatement[];
}

async function printOperation(pool: SystemPool, { context, reflection, statements }: Explanation): Promise<void> {
  const { role, searchPath, settings, timeoutMs } = reflection;
  const claims = flagText(context, 'claims') ?? JSON.stringify({ role });
  const caller = { role, claims, headers: '{}', method: 'POST', path: '/graphql/v1' };
  const input = {
    caller,
    searchPath,
    settings,
    timeoutMs: context.flags.analyze ? timeoutMs : 0,
    freshness: null,
    readOnly: false,
  };
  const opening = buildSettings(input);
  context.print('begin;');
  context.print(`select pg_catalog.set_config('request.jwt.claims', ${literal(claims)}, true),`);
  context.print(
    `  pg_catalog.set_config('search_path', ${literal(searchPath)}, true), pg_catalog.set_config('role', ${literal(role)}, true);`,
  );
  await pool.transaction(async (session) => {
    await session.query(opening.text, opening.values);
    for (const [index, statement] of statements.entries()) {
      const name = statements.length === 1 ? 'operation' : `operation_${index + 1}`;
      context.print(`\nprepare ${name} as\n${statement.text};`);
      const values = statement.values.map((value) => (value === null ? 'null' : literal(value)));
      context.print(`\nexecute ${name}${values.length === 0 ? '' : ` (${values.join(', ')})`};\n`);
      for (const line of await readPlan(session, statement, context.flags.analyze === true))
        context.print(`-- ${line}`);
    }
    // The plan is all we want of it.
    await session.query('rollback');
    await session.query('begin');
  });
  context.print('\nrollback;');
}

async function readPlan(
  session: SystemSession,
  statement: BoundStatement,
  analyze: boolean,
): Promise<readonly string[]> {
  const how = analyze ? 'explain (analyze, buffers) ' : 'explain ';
  const rows = await session.query(`${how}${statement.text}`, statement.values);
  return rows.map((row) => String(row['QUERY PLAN']));
}

/** For a person to paste; never run by us. */
function literal(value: string): string {
  const doubled = value.replaceAll("'", "''");
  return value.includes('\\') ? `E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`;
}
