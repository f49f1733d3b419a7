/**
 * `pgreflect config export|diff|apply`: the stored auth configuration as a file, with the names of `supabase/config.toml`.
 *
 * `apply` checks the whole file as the management API does before it stores anything. Secrets are shown to nobody: `export` writes
 * `env(NAME)`, `diff` masks them.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { type AuthFieldName, authField, authFieldNames, isAuthFieldName } from '../config/auth/auth-fields.ts';
import { readAuthTables } from '../config/auth/auth-file.ts';
import { loadAuthConfig, readPlain } from '../config/auth/load-auth-config.ts';
import { writeAuthFile } from '../config/auth/write-auth-file.ts';
import type { Problem } from '../config/config-error.ts';
import { loadConfigFile } from '../config/config-file.ts';
import { type LoadedOptions, loadOptionsOrThrow } from '../config/load-options.ts';
import { type ChangedProject, changeConfig } from '../management/change-config.ts';
import { ConfigStore } from '../management/config-store.ts';
import { ManagementError } from '../management/management-error.ts';
import { presentConfig } from '../management/present-config.ts';
import { createProjectRef } from '../management/project-ref.ts';
import { createSecretDigest } from '../management/secret-digest.ts';
import { type Command, type CommandContext, CommandError, failCommand } from './shared/command.ts';
import { describeError } from './shared/describe-error.ts';
import { authDatabaseUrl, chooseAction, withAuthTables } from './shared/with-auth-tables.ts';

const names = ['databaseUrl', 'adminDatabaseUrl', 'projectRef', 'adoptRole'] as const;
const actions = ['export', 'diff', 'apply'] as const;

/** The command `pgreflect config`. */
export const config: Command = {
  flags: [{ flag: 'prune', doc: 'diff, apply: also remove stored values that the file does not have.' }],
  notes: `Connects as the owner of the auth tables (--admin-database-url, else --database-url). The file has the [auth] tables of
supabase/config.toml; values without a name there stand under their own at the top. Values that the file does not have stay.
Variables, and the file of --config, count as for serve: they apply where nothing is stored.

export prints what is stored, secrets as env(NAME). apply checks everything before it stores anything. diff prints what apply
would change, secrets masked; it exits with 0 for no difference, 1 for differences, 2 for mistakes.

Examples:
  pgreflect config export > auth.toml
  pgreflect config diff supabase/config.toml
  pgreflect config apply auth.toml --prune`,
  run: runConfig,
};

/** What `apply` would change, in the order of the fields. Null: removed. */
type Differences = ReadonlyMap<AuthFieldName, unknown>;

async function runConfig(context: CommandContext): Promise<number> {
  const action = chooseAction('config', context, actions);
  if (action === 'diff') {
    // 1 says that there are differences.
    return runDiff(context).catch((error) => {
      context.note(describeError(error));
      return 2;
    });
  }
  return action === 'export' ? runExport(context) : runApply(context);
}

async function runExport(context: CommandContext): Promise<number> {
  if (context.operands[1] !== undefined)
    failCommand('pgreflect config export takes no file.', 'To write one: pgreflect config export > auth.toml');
  return withProject(context, async ({ store }) => {
    const { stored } = store.snapshot();
    const known = Object.entries(stored).flatMap(([name, value]): [AuthFieldName, unknown][] =>
      isAuthFieldName(name) ? [[name, value]] : [],
    );
    const { text, variables } = writeAuthFile(new Map(known));
    context.print(text.trimEnd());
    const others = Object.keys(stored).filter((name) => !isAuthFieldName(name));
    if (known.length === 0) context.note('Nothing is stored.');
    if (variables.length > 0) context.note(`Set for apply: ${variables.join(', ')}.`);
    if (others.length > 0) context.note(`Left out, as they have no effect here: ${others.join(', ')}.`);
    return 0;
  });
}

async function runDiff(context: CommandContext): Promise<number> {
  const file = readFile(context);
  return withProject(context, async (project) => {
    const differences = findDifferences(file, project, context.flags.prune === true);
    printDifferences(differences, project, context);
    return differences.size === 0 ? 0 : 1;
  });
}

async function runApply(context: CommandContext): Promise<number> {
  const file = readFile(context);
  return withProject(context, async (project) => {
    const differences = findDifferences(file, project, context.flags.prune === true);
    if (differences.size === 0) {
      context.note('Nothing to change.');
      return 0;
    }
    // A secret goes with the address that it is sent to, which may be new.
    const secrets = [...file].filter(([name]) => authField(name).secret);
    const body = Object.fromEntries([...secrets, ...differences]);
    const how = { by: 'pgreflect config apply', ifVersion: project.store.version, allowWarnings: true };
    printDifferences(differences, project, context);
    const { warnings, snapshot } = await changeConfig(project, body, how).catch((error) => {
      throw error instanceof ManagementError ? toCommandError(error) : error;
    });
    for (const { message } of warnings) context.note(`Warning: ${message}.`);
    context.note(`Stored as version ${snapshot.version}.`);
    return 0;
  });
}

function toCommandError({ problems, message }: ManagementError): CommandError {
  const found = problems ?? [{ message }];
  return new CommandError(found.map((one) => ({ problem: `${one.message}.`, fix: 'Nothing was stored.' })));
}

/** Opens the project, with the start values that `serve` would have here. */
async function withProject(
  context: CommandContext,
  use: (project: ChangedProject) => Promise<number>,
): Promise<number> {
  const options = loadOptionsOrThrow(names, context.sources);
  const startValues = loadStart(options, context);
  const { values } = options;
  const writes = context.operands[0] === 'apply' ? ['pgreflect_config', 'pgreflect_config_versions'] : [];
  return withAuthTables({ url: authDatabaseUrl(values), adopted: values.adoptRole, writes }, async (pool) => {
    const ref = createProjectRef(values.projectRef);
    const store = new ConfigStore({ ref, startValues, configOnly: false, observe: () => {} });
    // Else a failure would count as nothing stored.
    await pool.query('select c.version from auth.pgreflect_config c limit 0');
    await store.refreshIfNewer(pool);
    const digest = createSecretDigest(randomBytes(32));
    return use({ pool, store, ref: () => ref(pool), digest, ignoreUnknown: false });
  });
}

function loadStart({ file }: LoadedOptions<(typeof names)[number]>, { sources }: CommandContext) {
  const { path, isNamed, auth } = file;
  const loaded = loadAuthConfig({
    ...sources,
    flags: new Map(),
    file: auth,
    isNamed,
    fileName: path ?? 'pgreflect.toml',
  });
  if (loaded.problems.length > 0) throw new CommandError(loaded.problems);
  return loaded.given;
}

/** The values of the file. @throws CommandError with all that is wrong with it */
function readFile(context: CommandContext): ReadonlyMap<AuthFieldName, unknown> {
  const { operands, sources } = context;
  const [action, path] = operands;
  if (path === undefined)
    failCommand(`pgreflect config ${action} needs a file.`, `pgreflect config ${action} supabase/config.toml`);
  const file = loadConfigFile(path, sources.workingDirectory);
  const problems: Problem[] = [...file.problems];
  const warnings = [...file.warnings];
  const entries = readAuthTables(
    { ...sources, file: file.auth, fileName: path, isNamed: true },
    { problems, warnings },
  );
  const values = new Map<AuthFieldName, unknown>();
  for (const name of authFieldNames) {
    const entry = entries.get(name);
    if (entry === undefined) continue;
    try {
      values.set(name, readEntry(name, entry.value));
    } catch (error) {
      problems.push({ problem: `${entry.origin} ${(error as Error).message}.`, fix: authField(name).doc });
    }
  }
  for (const warning of warnings) context.note(`Warning: ${warning}`);
  if (problems.length > 0) throw new CommandError(problems);
  return values;
}

type FileField = ReturnType<typeof readAuthTables> extends ReadonlyMap<unknown, infer E> ? E : never;

/** @throws Error with the rest of a sentence */
function readEntry(name: AuthFieldName, value: FileField['value']): unknown {
  if (value.kind === 'json') return readPlain(authField(name).kind, value);
  if (value.source.kind !== 'file') throw new Error('must be a text or a file');
  return readPlain(authField(name).kind, { kind: 'json', value: readFileSync(value.source.path, 'utf8') });
}

function findDifferences(
  file: ReadonlyMap<AuthFieldName, unknown>,
  { store, digest }: ChangedProject,
  isPruned: boolean,
): Differences {
  const { stored, config: inForce } = store.snapshot();
  const presented = presentConfig(store.snapshot(), digest);
  const differences = new Map<AuthFieldName, unknown>();
  for (const name of authFieldNames) {
    const now = authField(name).secret ? inForce[name] : presented[name];
    if (file.has(name) && !isDeepStrictEqual(file.get(name), now)) differences.set(name, file.get(name));
    if (isPruned && !file.has(name) && Object.hasOwn(stored, name)) differences.set(name, null);
  }
  return differences;
}

function printDifferences(differences: Differences, { store, digest }: ChangedProject, context: CommandContext): void {
  const presented = presentConfig(store.snapshot(), digest);
  for (const [name, value] of differences) {
    const isSecret = authField(name).secret === true;
    const [before, after] = [presented[name], value].map((one) => printValue(one, isSecret));
    context.print(value === null ? `- ${name}: ${before}` : `${name}: ${before} -> ${after}`);
  }
}

/** Characters of a value that are shown. */
const maxShown = 100;

function printValue(value: unknown, isSecret: boolean): string {
  if (value === null || value === '') return 'none';
  if (isSecret) return '(hidden)';
  const text = JSON.stringify(value);
  return text.length <= maxShown ? text : `${text.slice(0, maxShown)}… (${text.length} characters)`;
}
