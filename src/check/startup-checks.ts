/** Checks a database before serving it: lists all that would fail or mislead, each with the command that fixes it. */
import type { Config } from '../config/config.ts';
import { ConfigError, type Problem } from '../config/config-error.ts';
import { withoutPassword } from '../config/connection-url.ts';
import { nearestName } from '../config/nearest-name.ts';
import { quoteName } from '../graphql/catalog/quote-name.ts';
import { readExposedNames } from '../graphql/catalog/read-catalog.ts';
import { detectEngines } from '../postgres/engine.ts';
import { supportedRange, supportedVersions } from '../postgres/supported.ts';
import type { Queryable } from '../postgres/system/queryable.ts';
import { loadSqlFile } from '../postgres/system/sql-file.ts';
import { quoteForShell } from '../shared/quote-for-shell.ts';
import { findUnexposed } from './unexposed-schemas.ts';

/** The options that `findProblems` checks. */
export type StartupConfig = Pick<
  Config,
  'databaseUrl' | 'schemas' | 'anonRole' | 'authenticatedRole' | 'serviceRole' | 'allowedRoles'
>;

/** A problem of the database or its login. */
export interface StartupProblem extends Problem {
  /** The fix is SQL. */
  readonly isSql?: true;
}

/** The findings. Warnings do not prevent a start. */
export interface Findings {
  readonly problems: readonly StartupProblem[];
  readonly warnings: readonly StartupProblem[];
}

/** One row of sql/startup-checks.sql. */
interface Facts {
  readonly database: string;
  readonly login: string;
  readonly version: number;
  readonly superuser: boolean;
  readonly bypassesRowSecurity: boolean;
  readonly schemas: readonly { readonly name: string; readonly exists: boolean }[];
  readonly knownSchemas: readonly string[];
  readonly roles: readonly { readonly name: string; readonly exists: boolean; readonly settable: boolean }[];
}

/** The row of sql/pre-request.sql. */
type ResultRow = Awaited<ReturnType<Queryable['query']>>[number];

/** @throws DatabaseError, or ConfigError if the server is not one that the gateway serves */
export async function findProblems(database: Queryable, config: StartupConfig): Promise<Findings> {
  const { anonRole, authenticatedRole, serviceRole, allowedRoles, schemas } = config;
  const roles = [...new Set([anonRole, authenticatedRole, serviceRole, ...(allowedRoles === '*' ? [] : allowedRoles)])];
  await refuseOthers(database);
  const exposed = schemas ?? (await readExposedNames(database, null));
  const asked = { roles, schemas: exposed };
  const [row] = await database.query(loadSqlFile('startup-checks.sql'), [JSON.stringify(asked)]);
  const found = row?.facts as Facts;
  const [postgrest] = await database.query(loadSqlFile('pre-request.sql'), [exposed]);
  // A search path may name missing schemas.
  const facts = schemas === null ? { ...found, schemas: found.schemas.filter(({ exists }) => exists) } : found;
  const unexposed = await findUnexposed(database, {
    exposed,
    isChosen: schemas !== null,
    roles: [anonRole, authenticatedRole],
  });
  // Without a fix, which is SQL for those who read `check`.
  const advice: Problem | null =
    unexposed === null ? null : { problem: `${unexposed}, also for \`pgreflect init\`.`, fix: null };
  return {
    problems: [
      ...versionProblems(facts),
      ...roleProblems(facts, config),
      ...schemaProblems(facts),
      ...preRequestProblems(facts, postgrest),
    ],
    warnings: [
      ...loginWarnings(facts),
      ...missingSchemas(facts),
      ...unreadSettings(facts, postgrest),
      ...(advice === null ? [] : [advice]),
    ],
  };
}

/** Before anything that they might not know. @throws ConfigError */
async function refuseOthers(database: Queryable): Promise<void> {
  const [row] = await database.query('select pg_catalog.version() as version');
  const facts = { version: String(row?.version), extensions: [], roles: [], functions: [] };
  const other = detectEngines(facts).find(({ kind }) => kind === 'other');
  if (other === undefined) return;
  const problem = `The server is ${other.name}, which pgreflect does not serve. ${other.remark}`;
  throw new ConfigError([{ problem, fix: `Use PostgreSQL ${supportedRange}.` }]);
}

function versionProblems({ version }: Facts): readonly Problem[] {
  const [oldest] = supportedVersions;
  const major = Math.floor(version / 10_000);
  if (major >= oldest) return [];
  const problem = `The server is PostgreSQL ${major}; pgreflect needs ${oldest} or newer.`;
  return [{ problem, fix: 'Upgrade the server.' }];
}

function roleProblems(facts: Facts, config: StartupConfig): readonly StartupProblem[] {
  const missing = facts.roles.filter((role) => !role.exists).map(({ name }) => name);
  const barred = facts.roles.filter((role) => role.exists && !role.settable).map(({ name }) => name);
  const problems: StartupProblem[] = [];
  const usual = [config.anonRole, config.authenticatedRole, config.serviceRole];
  if (missing.some((name) => usual.includes(name))) {
    problems.push({
      problem: `${list('role', missing)} missing in the database.`,
      fix: `As a superuser or a role with CREATEROLE:\n${initCommand(config)}`,
    });
  } else if (missing.length > 0) {
    problems.push({
      problem: `${list('role', missing)} missing in the database, but --allowed-roles names ${missing.length === 1 ? 'it' : 'them'}.`,
      fix: missing
        .map((name) => `create role ${quoteName(name)} nologin; grant ${quoteName(name)} to ${quoteName(facts.login)};`)
        .join('\n'),
      isSql: true,
    });
  }
  if (barred.length > 0) {
    problems.push({
      problem: `The login role "${facts.login}" cannot set role to ${barred.map((name) => `"${name}"`).join(', ')}.`,
      fix: `grant ${barred.map(quoteName).join(', ')} to ${quoteName(facts.login)};`,
      isSql: true,
    });
  }
  return problems;
}

/** The command that creates the roles, with the flags given here. */
function initCommand(config: StartupConfig): string {
  const flags = [
    `--database-url '${withoutPassword(config.databaseUrl)}'`,
    ...(config.schemas === null ? [] : [`--schemas '${config.schemas.join(',')}'`]),
    ...(config.anonRole === 'anon' ? [] : [`--anon-role '${config.anonRole}'`]),
    ...(config.authenticatedRole === 'authenticated' ? [] : [`--authenticated-role '${config.authenticatedRole}'`]),
    ...(config.serviceRole === 'service_role' ? [] : [`--service-role '${config.serviceRole}'`]),
  ];
  return `pgreflect init ${flags.join(' ')}`;
}

function schemaProblems(facts: Facts): readonly StartupProblem[] {
  if (facts.schemas.some(({ exists }) => exists)) return [];
  const names = facts.schemas.map(({ name }) => name);
  if (names.length > 0) {
    return [
      {
        problem: `${list('schema', names)} missing in the database "${facts.database}".${didYouMean(names, facts)}`,
        ...schemaFix(names, facts),
      },
    ];
  }
  const problem = `The search path of "${facts.login}" contains no existing schema, so there is nothing to expose.`;
  return [{ problem, fix: 'Set the schemas: --schemas public' }];
}

function didYouMean(names: readonly string[], { knownSchemas }: Facts): string {
  const nearest = names.map((name) => nearestName(name, knownSchemas)).filter((name) => name !== null);
  return nearest.length === 0 ? '' : ` Did you mean ${nearest.map((name) => `"${name}"`).join(', ')}?`;
}

function missingSchemas(facts: Facts): readonly StartupProblem[] {
  const missing = facts.schemas.filter(({ exists }) => !exists);
  if (missing.length === facts.schemas.length) return [];
  return missing.map(({ name }) => ({
    problem: `The schema "${name}" does not exist yet.${didYouMean([name], facts)}`,
    ...schemaFix([name], facts),
  }));
}

/** The option with the names that were probably meant, before the statements that create those that were not. */
function schemaFix(
  missing: readonly string[],
  { schemas, knownSchemas }: Facts,
): Pick<StartupProblem, 'fix' | 'isSql'> {
  const creation = missing.map((name) => `create schema ${quoteName(name)};`);
  const meant = schemas.map(({ name, exists }) => (exists ? name : (nearestName(name, knownSchemas) ?? name)));
  if (!missing.some((name) => nearestName(name, knownSchemas) !== null))
    return { fix: creation.join('\n'), isSql: true };
  const option = `--schemas ${quoteForShell([...new Set(meant)].join(','))}`;
  return { fix: [option, ...creation.map((statement) => `-- For a new schema: ${statement}`)].join('\n') };
}

/** A function that checks each request and is not there must not be left out silently. */
function preRequestProblems({ database, login }: Facts, settings: ResultRow | undefined): readonly StartupProblem[] {
  if (settings?.given == null || settings.found === true) return [];
  const problem = `The login role "${login}" has pgrst.db_pre_request = ${String(settings.given)}, which is no function without arguments. It would run before each request.`;
  const names = [quoteName(login), quoteName(database)] as const;
  const fix = [
    `alter role ${names[0]} reset pgrst.db_pre_request;`,
    `alter role ${names[0]} in database ${names[1]} reset pgrst.db_pre_request;`,
    '-- Or create the function. These two statements leave it out for PostgREST, too.',
  ];
  return [{ problem, fix: fix.join('\n'), isSql: true }];
}

/** What is set for PostgREST and has an option here. */
const counterparts: Readonly<Record<string, string>> = {
  'pgrst.db_schemas': '--schemas',
  'pgrst.db_extra_search_path': '--extra-search-path',
  'pgrst.db_anon_role': '--anon-role',
  'pgrst.jwt_secret': '--jwt-secret',
  'pgrst.jwt_aud': '--jwt-aud',
  'pgrst.jwt_role_claim_key': '--jwt-role-claim',
};

function unreadSettings({ login }: Facts, settings: ResultRow | undefined): readonly Problem[] {
  const names = (settings?.others ?? []) as readonly string[];
  if (names.length === 0) return [];
  const problem = `The login role "${login}" has settings of PostgREST without effect here: ${names.join(', ')}.`;
  const options = names.flatMap((name) =>
    counterparts[name] === undefined ? [] : [`${counterparts[name]} for ${name}`],
  );
  return [{ problem, fix: options.length === 0 ? null : `Set ${options.join(', ')}.` }];
}

function loginWarnings(facts: Facts): readonly Problem[] {
  if (!facts.superuser && !facts.bypassesRowSecurity) return [];
  const what = facts.superuser ? 'is a superuser' : 'passes row security';
  const problem = `The login role "${facts.login}" ${what}. The gateway only needs a login role that can set role to the API roles.`;
  return [{ problem, fix: 'In --database-url, use the role that `pgreflect init` created (authenticator).' }];
}

function list(noun: string, names: readonly string[]): string {
  const quotedNames = names.map((name) => `"${name}"`).join(', ');
  return names.length === 1 ? `The ${noun} ${quotedNames} is` : `The ${noun}s ${quotedNames} are`;
}
