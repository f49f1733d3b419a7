/**
 * `pgreflect init`: prepares a database for the gateway, or removes everything again.
 *
 * Prints each step; with `--dry-run`, prints the SQL and changes nothing. Lists what the login may not do, with the
 * statement for another user.
 */
import { randomBytes } from 'node:crypto';
import { hasLive } from '../../check/change-triggers.ts';
import { findUnexposed } from '../../check/unexposed-schemas.ts';
import { loadOptionsOrThrow, type OptionValues } from '../../config/load-options.ts';
import { nearestName } from '../../config/nearest-name.ts';
import { readExposedNames } from '../../graphql/catalog/read-catalog.ts';
import { ownSettings } from '../../postgres/migrations/own-schemas.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { loadSqlFile } from '../../postgres/system/sql-file.ts';
import { onOneLine, pasteable } from '../../shared/one-line.ts';
import type { Command, CommandContext } from '../shared/command.ts';
import { requireDatabaseUrl } from '../shared/read-model.ts';
import { withDatabase } from '../shared/with-database.ts';
import { type AuthRole, ofAuthRole, openAuthTables, planAuthRole, printAuthTables } from './auth-role.ts';
import { hasAuth, installAuth, printAuth } from './auth-setup.ts';
import { giveUnheld, refuseHeld, type WidenedRoles } from './held-roles.ts';
import { installLive, printLive, removeLive } from './live-setup.ts';
import { printNextSteps, printPrepared } from './next-steps.ts';
import { lineFor, printRefused } from './refused-steps.ts';
import {
  ofApiRoles,
  planRoleRemoval,
  planRoleSetup,
  planUnheldSetup,
  type RoleSetup,
  runStep,
  type SetupStep,
  type StepOutcome,
} from './role-setup.ts';
import { installSupabase, planSupabaseRemoval, printSupabase } from './supabase-setup.ts';
import { installWatch, isWatched, printWatch, removeWatch } from './watch-setup.ts';

const names = [
  'databaseUrl', 'adminDatabaseUrl', 'schemas', 'anonRole', 'authenticatedRole', 'serviceRole', 'loginRole', 'loginPassword',
  'authRole', 'authRolePassword', 'adoptRole',
] as const; // biome-ignore format: a table of names

/** The command `pgreflect init`. */
export const init: Command = {
  flags: [
    {
      flag: 'grant-defaults',

      doc: 'Also grant all privileges on existing and future objects in the schemas.',
    },
    { flag: 'watch', doc: 'Also install the schema-change trigger (needs a superuser).' },
    { flag: 'live', doc: 'Also record which tables change, for live queries. Implies --watch.' },
    {
      flag: 'auth',

      doc: 'Also create the tables of the auth service, and a role that serves it.',
    },
    { flag: 'supabase', doc: 'Also create what Supabase migrations name: schemas, roles, a publication.' },
    { flag: 'dry-run', doc: 'Print the SQL without running it.' },
    { flag: 'remove', doc: 'Undo init: remove triggers, privileges and roles.' },
  ],
  notes: `Connects with --admin-database-url, else --database-url; a typed one goes before those of the environment. Needs
a superuser, or a role with CREATEROLE that owns the schemas. Safe to run again: it does only what is missing.

Examples:
  pgreflect init --database-url postgresql://postgres:PASSWORD@localhost:5432/shop --grant-defaults --watch
  pgreflect init --dry-run
  pgreflect init --remove`,
  run: runInit,
};

async function runInit(context: CommandContext): Promise<number> {
  const { values } = loadOptionsOrThrow(names, context.sources);
  const url = requireDatabaseUrl(ownerUrl(values, context), 'postgres');
  // A dry run creates no random secret, which would be lost.
  const orRandom = (password: string | null) =>
    password ?? (context.flags['dry-run'] ? null : randomBytes(24).toString('base64url'));
  const setup: RoleSetup = {
    anon: values.anonRole!,
    authenticated: values.authenticatedRole!,
    service: values.serviceRole!,
    login: values.loginRole!,
    loginPassword: orRandom(values.loginPassword),
    schemas: values.schemas,
    grantDefaults: context.flags['grant-defaults'] === true,
    adoptedRoles: values.adoptRole ?? [],
  };
  const authRole: AuthRole = { role: values.authRole!, password: orRandom(values.authRolePassword) };
  const run = { context, url, values, setup, authRole };
  return withDatabase(url, (pool) => {
    if (context.flags['dry-run']) return printSql(pool, run);
    if (context.flags.remove) return removeAll(pool, run);
    return addAll(pool, run);
  });
}

/** A typed --database-url goes before the auth service's connection, which the environment has in order to serve. */
function ownerUrl({ databaseUrl, adminDatabaseUrl }: InitRun['values'], { sources }: CommandContext): string | null {
  const isTyped = sources.flags.has('databaseUrl') && !sources.flags.has('adminDatabaseUrl');
  return isTyped ? databaseUrl : (adminDatabaseUrl ?? databaseUrl);
}

interface InitRun {
  readonly context: CommandContext;
  readonly url: string;
  readonly values: OptionValues<(typeof names)[number]>;
  readonly setup: RoleSetup;
  readonly authRole: AuthRole;
}

async function addAll(pool: SystemPool, { context, url, values, setup, authRole }: InitRun): Promise<number> {
  const schemas = await existingSchemas(pool, setup, context);
  const unexposed = await unexposedTables(pool, setup);
  if (unexposed !== null) context.print(`${unexposed}, also for \`pgreflect serve\`.\n`);
  await printOpenTables(pool, setup, context);
  const auth = context.flags.auth === true;
  const supabase = context.flags.supabase === true;
  const live = context.flags.live === true;
  const parts = { watch: context.flags.watch === true || live, live, auth, supabase, authRole: auth ? authRole : null };
  const outcomes = await setUpDatabase(pool, setup, parts, (outcome) => printOutcome(outcome, context));
  const isMade = (topic: string) => outcomes.some((outcome) => outcome.topic === topic && outcome.result === 'done');
  const made = {
    login: isMade(`login role "${setup.login}"`),
    auth: isMade(authTopic(authRole.role)),
  };
  const refused = printRefused(outcomes, values, context);
  if (!made.login && values.loginPassword !== null) context.print(`\nThe password of "${setup.login}" is unchanged.`);
  if (auth && !made.auth && values.authRolePassword !== null)
    context.print(`\nThe password of "${authRole.role}" is unchanged.`);
  if (made.login || made.auth) context.print(printNextSteps(url, { setup, authRole, made, schemas }));
  else if (refused === 0) context.print(printPrepared(url, auth ? [setup.login, authRole.role] : [setup.login]));
  return refused === 0 ? 0 : 1;
}

const authTopic = (role: string) => `login role "${role}" of the auth service`;

/**
 * Runs all steps of `init` in order, and reports each outcome at once.
 *
 * @returns All outcomes, including statements that PostgreSQL accepted without effect.
 * @throws CommandError before anything is done, if others may act as a role that would get something.
 */
export async function setUpDatabase(
  pool: SystemPool,
  setup: RoleSetup,
  parts: {
    readonly watch: boolean;
    /** With `watch` only. */
    readonly live?: boolean;
    readonly auth: boolean;
    readonly supabase?: boolean;
    readonly authRole: AuthRole | null;
  },
  tell: (outcome: StepOutcome) => void,
): Promise<readonly StepOutcome[]> {
  const outcomes: StepOutcome[] = [];
  const add = (outcome: StepOutcome) => {
    outcomes.push(outcome);
    tell(outcome);
  };
  const widened = ofApiRoles(setup);
  const steps = await planUnheldSetup(pool, setup);
  for (const step of steps) {
    const outcome = await runStatement(pool, step, widened);
    // PostgreSQL only warns about a grant by a role that may not grant; the statement is then still missing.
    const idle =
      outcome.result === 'done' && step.statement?.startsWith('grant') && (await isStillMissing(pool, setup, step));
    const reason = 'it had no effect, because this login role does not own the object';
    add(idle ? { ...step, result: 'refused', reason } : outcome);
  }
  const tables = parts.auth ? await installAuth(pool, setup) : null;
  if (tables !== null) add(tables);
  // Before the login of the auth service, which may use all tables of its schema.
  if (parts.supabase) add(await installSupabase(pool, setup, parts.authRole?.role ?? null));
  if (parts.authRole !== null && tables?.result !== 'refused')
    await addAuthRole(pool, parts.authRole, setup.adoptedRoles, add);
  if (parts.watch) add(await installWatch(pool, setup.login, setup.adoptedRoles));
  if (parts.live)
    for (const outcome of await installLive(pool, setup, outcomes.at(-1)?.result !== 'refused')) add(outcome);
  return outcomes;
}

async function addAuthRole(
  pool: SystemPool,
  role: AuthRole,
  adoptedRoles: readonly string[],
  add: (outcome: StepOutcome) => void,
): Promise<void> {
  const steps = await planAuthRole(pool, role);
  for (const step of steps) add(await runStatement(pool, step, ofAuthRole(role.role, adoptedRoles)));
  add(await openAuthTables(pool, role, adoptedRoles));
}

/** @param widened Roles that the statement may give something to: looked at in its transaction. */
function runStatement(pool: SystemPool, step: SetupStep, widened: WidenedRoles | null): Promise<StepOutcome> {
  return runStep(step, () =>
    pool.transaction(
      async (tx) => {
        const give = () => tx.query(step.statement!);
        await (widened === null ? give() : giveUnheld(tx, widened, step.statement!, give));
      },
      { settings: ownSettings },
    ),
  );
}

async function isStillMissing(pool: SystemPool, setup: RoleSetup, step: SetupStep): Promise<boolean> {
  const now = await planRoleSetup(pool, setup);
  return now.some(({ topic, statement }) => topic === step.topic && statement !== null);
}

async function removeAll(pool: SystemPool, { context, values, setup, authRole }: InitRun): Promise<number> {
  const outcomes: StepOutcome[] = [];
  const roles = await planRoleRemoval(pool, { ...setup, auth: authRole.role });
  const steps = [...roles, ...(await planSupabaseRemoval(pool))];
  for (const step of steps) {
    outcomes.push(await runStatement(pool, step, null));
    printOutcome(outcomes.at(-1)!, context);
  }
  for (const remove of [removeLive, removeWatch]) {
    outcomes.push(await remove(pool));
    printOutcome(outcomes.at(-1)!, context);
  }
  const refused = printRefused(outcomes, values, context);
  if (await hasAuth(pool))
    context.print(
      '\nUsers are kept. To delete them with all tables: drop schema if exists auth, pgreflect_queue cascade;',
    );
  return refused === 0 ? 0 : 1;
}

/** Whoever runs the printed SQL may have a search path with schemas in which others create functions. */
const printedPath = 'set search_path = pg_catalog, pg_temp;';

async function printSql(pool: SystemPool, { context, values, setup, authRole }: InitRun): Promise<number> {
  context.print(printedPath);
  if (context.flags.remove) {
    printSteps(await planRoleRemoval(pool, { ...setup, auth: authRole.role }), context);
    printSteps(await planSupabaseRemoval(pool), context);
    if (await hasLive(pool)) context.print(loadSqlFile('unlive.sql'));
    if (await isWatched(pool)) context.print(loadSqlFile('unwatch.sql'));
    return 0;
  }
  await existingSchemas(pool, setup, context);
  const unexposed = await unexposedTables(pool, setup);
  if (unexposed !== null) context.print(`-- ${unexposed}`);
  printSteps(await planUnheldSetup(pool, setup), context);
  if (context.flags.auth) context.print(await printAuth(pool, setup));
  if (context.flags.supabase)
    context.print(await printSupabase(pool, setup, context.flags.auth ? authRole.role : null));
  if (context.flags.auth) {
    const steps = await planAuthRole(pool, authRole);
    if (steps.some(({ statement }) => statement !== null))
      await refuseHeld(pool, ofAuthRole(authRole.role, setup.adoptedRoles));
    printSteps(steps, context);
    context.print(await printAuthTables(pool, authRole, setup.adoptedRoles));
  }
  if (context.flags.watch || context.flags.live)
    context.print(await printWatch(pool, setup.login, setup.adoptedRoles, lineFor('watch', values)));
  if (context.flags.live) context.print(await printLive(pool, setup));
  return 0;
}

function printSteps(steps: readonly SetupStep[], context: CommandContext): void {
  for (const { topic, statement, advice } of steps) {
    if (statement !== null) context.print(`${statement};`);
    else if (advice === null) context.print(`-- already so: ${onOneLine(topic)}`);
    if (advice !== null) context.print(`-- ${onOneLine(advice)}`);
  }
}

/** The named schemas that exist, null for none. Says which do not. */
async function existingSchemas(
  pool: SystemPool,
  setup: RoleSetup,
  context: CommandContext,
): Promise<readonly string[] | null> {
  const existing: string[] = [];
  for (const schema of setup.schemas ?? []) {
    const [row] = await pool.query(
      'select pg_catalog.quote_ident($1::text) as quoted, pg_catalog.array_agg(n.nspname::text) as known from pg_catalog.pg_namespace n',
      [schema],
    );
    const { quoted, known } = row as unknown as { readonly quoted: string; readonly known: readonly string[] };
    if (known.includes(schema)) {
      existing.push(schema);
      continue;
    }
    const nearest = nearestName(schema, known);
    const meant = nearest === null ? '' : ` Did you mean "${nearest}"?`;
    context.note(
      `Skipped the schema "${schema}", which does not exist.${meant} To create it: create schema ${quoted};`,
    );
  }
  return existing.length === 0 ? null : existing;
}

/** Says which tables are in other schemas. Naming the usual schema alone shows no knowledge of the others. */
async function unexposedTables(pool: SystemPool, { schemas, anon, authenticated }: RoleSetup): Promise<string | null> {
  const exposed = await readExposedNames(pool, schemas);
  const isChosen = schemas !== null && schemas.join() !== 'public';
  return findUnexposed(pool, { exposed, isChosen, roles: [anon, authenticated] });
}

/** Prints the unprotected tables, to read before the grants. */
async function printOpenTables(pool: SystemPool, setup: RoleSetup, context: CommandContext): Promise<void> {
  if (!setup.grantDefaults) return;
  const schemas = await readExposedNames(pool, setup.schemas);
  const open = await pool.query(loadSqlFile('roles-open-tables.sql'), [JSON.stringify({ schemas })]);
  if (open.length === 0) return;
  context.print(
    'These tables have no row security. With --grant-defaults, every caller can read and change all their rows:',
  );
  for (const { name, why, fix } of open.slice(0, maxOpen)) context.print(printOpen(String(name), String(why), fix));
  if (open.length > maxOpen)
    context.print(
      `  … and ${open.length - maxOpen} more: \`pgreflect check\` lists them, by --only row_security_off,view_runs_as_owner`,
    );
  context.print('');
}

/** Most tables listed; the report of the steps follows. */
const maxOpen = 20;

function printOpen(name: string, why: string, fix: unknown): string {
  const statement = fix === null ? null : pasteable(String(fix));
  return `  ${onOneLine(name)} (${why})${statement === null ? '' : `\n    ${statement};`}`;
}

function printOutcome({ topic, result }: StepOutcome, context: CommandContext): void {
  const words = { done: 'done     ', unchanged: 'unchanged', refused: 'REFUSED  ' }[result];
  context.print(`${words}  ${onOneLine(topic)}`);
}
