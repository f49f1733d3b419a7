/**
 * `pgreflect init`: prepares a database for the gateway, or takes it all out again.
 *
 * Prints what it did line by line; with `--dry-run` the SQL it would run, and nothing is written. What the login may not
 * do is listed with the statement that somebody else has to run.
 */
import { randomBytes } from 'node:crypto';
import { readExposedNames } from '../../catalog/read-catalog.ts';
import { changeConnectionUrl, encodePart } from '../../config/connection-url.ts';
import { loadOptionsOrThrow, type OptionValues } from '../../config/load-options.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { onOneLine, pasteable } from '../../shared/one-line.ts';
import type { Command, CommandContext } from '../command.ts';
import { readSqlFile } from '../package-files.ts';
import { requireDatabaseUrl } from '../read-model.ts';
import { withDatabase } from '../with-database.ts';
import { hasAuth, installAuth, printAuth } from './auth-setup.ts';
import {
  planRoleRemoval,
  planRoleSetup,
  type RoleSetup,
  runStep,
  type SetupStep,
  type StepOutcome,
} from './role-setup.ts';
import { installWatch, isWatched, printWatch, removeWatch } from './watch-setup.ts';

const names = [
  'databaseUrl', 'adminDatabaseUrl', 'schemas', 'anonRole', 'authenticatedRole', 'serviceRole', 'loginRole', 'loginPassword',
] as const; // biome-ignore format: a table of names

/** The command `pgreflect init`. */
export const init: Command = {
  name: 'init',
  summary: 'Prepare a database: roles, their memberships, and usage on the exposed schemas.',
  flags: [
    {
      flag: 'grant-defaults',

      doc: 'Also grant all privileges on existing and future objects in the schemas.',
    },
    { flag: 'watch', doc: 'Also install the schema-change trigger (needs a superuser).' },
    {
      flag: 'auth',

      doc: 'Also create the tables of the auth service.',
    },
    { flag: 'dry-run', doc: 'Print the SQL without running it.' },
    { flag: 'remove', doc: 'Undo init: remove trigger, privileges and roles.' },
  ],
  notes: `Connects with --admin-database-url, else --database-url. Needs a superuser, or a role with CREATEROLE that owns
the schemas. Safe to run again: it does only what is missing.

Examples:
  pgreflect init --database-url postgresql://postgres:PASSWORD@localhost:5432/shop --grant-defaults --watch
  pgreflect init --dry-run
  pgreflect init --remove`,
  run: runInit,
};

async function runInit(context: CommandContext): Promise<number> {
  const { values } = loadOptionsOrThrow(names, context.sources);
  const url = requireDatabaseUrl(values.adminDatabaseUrl ?? values.databaseUrl, 'postgres');
  const setup: RoleSetup = {
    anon: values.anonRole!,
    authenticated: values.authenticatedRole!,
    service: values.serviceRole!,
    login: values.loginRole!,
    loginPassword: values.loginPassword ?? randomBytes(24).toString('base64url'),
    schemas: values.schemas,
    grantDefaults: context.flags['grant-defaults'] === true,
  };
  return withDatabase(url, (pool) => {
    if (context.flags['dry-run']) return printSql(pool, setup, context);
    if (context.flags.remove) return removeAll(pool, setup, context);
    return addAll(pool, setup, { context, url, values });
  });
}

interface InitRun {
  readonly context: CommandContext;
  readonly url: string;
  readonly values: OptionValues<(typeof names)[number]>;
}

async function addAll(pool: SystemPool, setup: RoleSetup, { context, url, values }: InitRun): Promise<number> {
  await noteSchemas(pool, setup, context);
  const parts = { watch: context.flags.watch === true, auth: context.flags.auth === true };
  const outcomes = await setUpDatabase(pool, setup, parts, (outcome) => printOutcome(outcome, context));
  const made = outcomes.find(({ topic, result }) => topic.startsWith('login role') && result === 'done');
  const refused = printRefused(outcomes, context);
  if (made) printNextSteps(url, setup, context);
  else if (values.loginPassword !== null) context.print(`\nThe password of "${setup.login}" is unchanged.`);
  if (refused === 0 && made === undefined) context.print('\nThe database is prepared.');
  return refused === 0 ? 0 : 1;
}

/**
 * Does everything `init` does, in order, and tells each outcome as soon as it is known.
 *
 * @returns All outcomes, those statements included that PostgreSQL accepted without effect.
 */
export async function setUpDatabase(
  pool: SystemPool,
  setup: RoleSetup,
  parts: { readonly watch: boolean; readonly auth: boolean },
  tell: (outcome: StepOutcome) => void,
): Promise<readonly StepOutcome[]> {
  const outcomes: StepOutcome[] = [];
  const add = (outcome: StepOutcome) => {
    outcomes.push(outcome);
    tell(outcome);
  };
  for (const step of await planRoleSetup(pool, setup)) {
    const outcome = await runRoleStep(pool, step);
    // A grant of somebody who may not grant is a warning to PostgreSQL; the statement then is still missing.
    const idle =
      outcome.result === 'done' && step.statement?.startsWith('grant') && (await isStillMissing(pool, setup, step));
    const reason = 'it had no effect, because this login role does not own the object';
    add(idle ? { ...step, result: 'refused', reason } : outcome);
  }
  if (parts.auth) add(await installAuth(pool, setup));
  if (parts.watch) add(await installWatch(pool, setup.login));
  return outcomes;
}

function runRoleStep(pool: SystemPool, step: SetupStep): Promise<StepOutcome> {
  return runStep(step, () => pool.query(step.statement!));
}

async function isStillMissing(pool: SystemPool, setup: RoleSetup, step: SetupStep): Promise<boolean> {
  const now = await planRoleSetup(pool, setup);
  return now.some(({ topic, statement }) => topic === step.topic && statement !== null);
}

async function removeAll(pool: SystemPool, setup: RoleSetup, context: CommandContext): Promise<number> {
  const outcomes: StepOutcome[] = [];
  for (const step of await planRoleRemoval(pool, setup)) {
    outcomes.push(await runRoleStep(pool, step));
    printOutcome(outcomes.at(-1)!, context);
  }
  outcomes.push(await removeWatch(pool));
  printOutcome(outcomes.at(-1)!, context);
  const refused = printRefused(outcomes, context);
  if (await hasAuth(pool))
    context.print(
      '\nUsers are kept. To delete them with all tables: drop schema if exists auth, pgreflect_queue cascade;',
    );
  return refused === 0 ? 0 : 1;
}

/** Whoever runs what is printed may have schemas in the search path in which others make functions and operators. */
const printedPath = 'set search_path = pg_catalog, pg_temp;';

async function printSql(pool: SystemPool, setup: RoleSetup, context: CommandContext): Promise<number> {
  const remove = context.flags.remove === true;
  context.print(printedPath);
  const steps = remove ? await planRoleRemoval(pool, setup) : await planRoleSetup(pool, setup);
  for (const step of steps) {
    if (step.advice !== null) context.print(`-- ${onOneLine(step.advice)}`);
    context.print(step.statement === null ? `-- already so: ${onOneLine(step.topic)}` : `${step.statement};`);
  }
  if (remove && (await isWatched(pool))) context.print(readSqlFile('unwatch.sql'));
  if (!remove && context.flags.auth) context.print(await printAuth(pool, setup));
  if (!remove && context.flags.watch) context.print(await printWatch(pool, setup.login));
  return 0;
}

/** Says what a person should know before the grants: schemas that do not exist, tables that nothing guards. */
async function noteSchemas(pool: SystemPool, setup: RoleSetup, context: CommandContext): Promise<void> {
  for (const schema of setup.schemas ?? []) {
    const [row] = await pool.query(
      'select pg_catalog.quote_ident($1::text) as quoted, exists (select from pg_catalog.pg_namespace n where n.nspname = $1) as there',
      [schema],
    );
    if (row?.there === false)
      context.note(`Skipped the schema "${schema}", which does not exist. To create it: create schema ${row.quoted};`);
  }
  if (!setup.grantDefaults) return;
  const schemas = await readExposedNames(pool, setup.schemas);
  const open = await pool.query(readSqlFile('roles-open-tables.sql'), [JSON.stringify({ schemas })]);
  if (open.length === 0) return;
  context.print(
    'These tables have no row security. With --grant-defaults, every caller can read and change all their rows:',
  );
  for (const { name, why, fix } of open) context.print(printOpen(String(name), String(why), fix));
  context.print('');
}

function printOpen(name: string, why: string, fix: unknown): string {
  const statement = fix === null ? null : pasteable(String(fix));
  return `  ${onOneLine(name)} (${why})${statement === null ? '' : `\n    ${statement};`}`;
}

function printOutcome({ topic, result }: StepOutcome, context: CommandContext): void {
  const words = { done: 'done     ', unchanged: 'unchanged', refused: 'REFUSED  ' }[result];
  context.print(`${words}  ${onOneLine(topic)}`);
}

const triggerAdvice =
  'pgreflect init --watch --database-url CONNECTION_OF_A_SUPERUSER   (without the trigger, the gateway polls every second)';

const authAdvice = 'pgreflect init --auth --database-url CONNECTION_OF_THE_OWNER_OF_SCHEMA_AUTH';

/** Prints what could not be done and the general advice. @returns The number of refused steps. */
function printRefused(outcomes: readonly StepOutcome[], context: CommandContext): number {
  const refused = outcomes.filter(({ result }) => result === 'refused');
  for (const { advice } of outcomes) if (advice !== null) context.print(`\n${onOneLine(advice)}`);
  if (refused.length > 0)
    context.print('\nThis login role is not allowed to run the following. Ask the owner or a superuser to run it:');
  for (const { topic, statement, reason } of refused) {
    context.print(`  ${onOneLine(`${topic}: ${reason}.`)}`);
    context.print(`    ${adviceOf(statement ?? '')}`);
  }
  return refused.length;
}

function adviceOf(statement: string): string {
  if (statement.startsWith('sql/')) return statement === 'sql/auth' ? authAdvice : triggerAdvice;
  return `${pasteable(statement) ?? onOneLine(statement)};`;
}

function printNextSteps(url: string, setup: RoleSetup, context: CommandContext): void {
  const connection = changeConnectionUrl(url, (login) => {
    login.username = encodePart(setup.login);
    login.password = encodePart(setup.loginPassword);
    for (const name of ['user', 'password']) login.searchParams.delete(name);
  });
  const roles = printRoleFlags(setup);
  context.print(`
Connection of the gateway, shown only this once:

  ${connection}

Next:
  # Once: the signing secret and the two API keys.
  (umask 077; pgreflect keys${roles.keys} > keys.env)
  set -a; . ./keys.env; set +a
  export DATABASE_URL='${connection}'
  pgreflect serve${roles.serve}`);
}

/** Flags for roles that have other names than usual. */
function printRoleFlags({ anon, authenticated, service }: RoleSetup): {
  readonly keys: string;
  readonly serve: string;
} {
  const flag = (name: string, value: string, usual: string) => (value === usual ? '' : ` --${name} '${value}'`);
  const ends = [flag('anon-role', anon, 'anon'), flag('service-role', service, 'service_role')].join('');
  return { keys: ends, serve: `${flag('authenticated-role', authenticated, 'authenticated')}${ends}` };
}
