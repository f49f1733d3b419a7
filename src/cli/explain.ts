/**
 * `pgreflect explain`: prints the SQL of an operation as a psql script, and its PostgreSQL plan under the role. Runs in
 * a transaction that is rolled back; only `--analyze` executes the statements. Planning runs user code, too: without
 * a login such as the gateway's there is no plan.
 */

import { whyNotGatewayLogin } from '../check/gateway-login.ts';
import { loadOptionsOrThrow } from '../config/load-options.ts';
import { readCatalog } from '../graphql/catalog/read-catalog.ts';
import { type BoundStatement, bindOperation, explainStatements } from '../graphql/execute/explain-operation.ts';
import { Reflection, type RoleReflection } from '../graphql/execute/reflection.ts';
import { readRequest } from '../graphql/routes/read-request.ts';
import { isObject, parseJson } from '../shared/json.ts';
import { onOneLine } from '../shared/one-line.ts';
import {
  type Command,
  type CommandContext,
  CommandError,
  failCommand,
  flagText,
  readTypedFile,
} from './shared/command.ts';
import { databaseUrlFor } from './shared/read-model.ts';
import { withDatabase } from './shared/with-database.ts';

/** The command `pgreflect explain`. */
export const explain: Command = {
  flags: [
    { flag: 'role', placeholder: 'ROLE', doc: 'Role to use (default: the anon role).' },
    { flag: 'variables', placeholder: 'JSON', doc: 'Variables, a JSON object.' },
    { flag: 'operation', placeholder: 'NAME', doc: 'Operation to explain, if the file has several.' },
    { flag: 'claims', placeholder: 'JSON', doc: 'Claims for policies, as in request.jwt.claims.' },
    {
      flag: 'analyze',

      doc: 'Execute the operation and print actual times; writes are rolled back.',
    },
  ],
  notes: `The output is a script for psql with the plans as comments. Plans need the gateway's login: planning runs code of views,
functions and policies, which could use the rights of another. A local project running in the working directory needs no
--database-url.

Example:
  pgreflect explain query.graphql --role authenticated --variables '{"id": "3"}' --analyze`,
  run: runExplain,
};

const names = [
  'databaseUrl',
  'schemas',
  'extensions',
  'anonRole',
  'authenticatedRole',
  'serviceRole',
  'allowedRoles',
  'extraSearchPath',
  'variablePositions',
  'statementTimeoutMs',
] as const;

async function runExplain(context: CommandContext): Promise<number> {
  const { values } = loadOptionsOrThrow(names, context.sources);
  const [file] = context.operands;
  if (file === undefined) failCommand('No file is given.', 'pgreflect explain FILE.graphql');
  if (file.includes('{')) {
    failCommand(
      'An operation is given where explain reads a file.',
      'Write it to a file: pgreflect explain FILE.graphql',
    );
  }
  const request = readOperation(file, context);
  const role = flagText(context, 'role') ?? values.anonRole!;
  const claims = readClaims(context, role);
  const url = databaseUrlFor(values.databaseUrl, context);
  await withDatabase(url, async (pool) => {
    const readSince = performance.now();
    const catalog = await readCatalog(pool, values.schemas);
    const options = {
      introspection: 'directive',
      extensions: values.extensions!,
      serviceRole: values.serviceRole!,
      extraSearchPath: values.extraSearchPath,
      statementTimeoutMs: values.statementTimeoutMs!,
      variablePositions: values.variablePositions!,
    } as const;
    const reflection = await new Reflection(catalog, readSince, options, null).role(role);
    if (reflection === null) failCommand(`There is no role "${role}" in the database.`, 'Check --role.');
    const statements = compile(reflection, request);
    const { anonRole, authenticatedRole, serviceRole, allowedRoles } = values;
    const listed = allowedRoles === null || allowedRoles === '*' ? [] : allowedRoles;
    const roles = [anonRole!, authenticatedRole!, serviceRole!, ...listed, role];
    const reason = await whyNotGatewayLogin(pool, 'The plans', roles);
    if (reason !== null) context.note(reason);
    const traits = { claims, analyze: context.flags.analyze === true };
    const explained =
      reason === null
        ? await explainStatements(pool, reflection, statements, traits)
        : statements.map((statement) => ({ ...statement, plan: [] }));
    context.print(printScript(explained, reflection, claims));
  });
  return 0;
}

type ExplainedRequest = ReturnType<typeof readRequest>;

function readOperation(file: string, context: CommandContext): ExplainedRequest {
  const query = readTypedFile(context, file);
  const operationName = flagText(context, 'operation');
  // Joined as text, so that the parser of request bodies gets big integers unchanged.
  const variables = flagText(context, 'variables') ?? 'null';
  try {
    return readRequest(`${JSON.stringify({ query, operationName }).slice(0, -1)},"variables":${variables}}`);
  } catch {
    failCommand('--variables must be a JSON object.', `--variables '{"id": "3"}'`);
  }
}

/** Passed on as written: policies may depend on it. */
function readClaims(context: CommandContext, role: string): string {
  const claims = flagText(context, 'claims');
  if (claims === null) return JSON.stringify({ role });
  if (!isObject(parseJson(claims)))
    failCommand('--claims must be a JSON object.', `--claims '{"role": "${role}", "sub": "…"}'`);
  return claims;
}

/** Turns refusals of the operation into the command's. */
function compile(reflection: RoleReflection, request: ExplainedRequest): readonly BoundStatement[] {
  const bound = bindOperation(reflection, request);
  if (bound.kind === 'bound') return bound.statements;
  throw new CommandError(bound.errors.map(({ message }) => ({ problem: message, fix: null })));
}

type Explained = Awaited<ReturnType<typeof explainStatements>>;

/** @param claims JSON. */
function printScript(explained: Explained, { role, searchPath }: RoleReflection, claims: string): string {
  const operations = explained.map(({ text, values, plan }, index) => {
    const name = explained.length === 1 ? 'operation' : `operation_${index + 1}`;
    const literals = values.map((value) => (value === null ? 'null' : literal(value)));
    const called = literals.length === 0 ? name : `${name} (${literals.join(', ')})`;
    const comments = plan.map((line) => `\n-- ${onOneLine(line)}`).join('');
    return `prepare ${name} as\n${text};\n\nexecute ${called};\n${comments}\n`;
  });
  return `begin;
select pg_catalog.set_config('request.jwt.claims', ${literal(claims)}, true),
  pg_catalog.set_config('search_path', ${literal(searchPath)}, true), pg_catalog.set_config('role', ${literal(role)}, true);

${operations.join('\n')}
rollback;`;
}

/** For an operator to paste; never run by us. */
function literal(value: string): string {
  const doubled = value.replaceAll("'", "''");
  return value.includes('\\') ? `E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`;
}
