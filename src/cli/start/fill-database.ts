/**
 * Creates and fills the database of a local project on its first start: roles, the requested schema and data, and the
 * schema-change trigger. Later starts add missing roles and trigger, and grant nothing again that was revoked.
 */
import { DatabaseError } from '../../postgres/database-error.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { onOneLine } from '../../shared/one-line.ts';
import { setUpDatabase } from '../init/init.ts';
import type { RoleSetup, StepOutcome } from '../init/role-setup.ts';
import { type CommandContext, CommandError, failCommand, flagText, readTypedFile } from '../shared/command.ts';
import { type LocalProject, localDatabase } from '../shared/local-project.ts';
import { withDatabase } from '../shared/with-database.ts';
import { findExample, readPackageFile } from './package-files.ts';

/** Content of a new database. `title` names each text in messages. */
export interface Content {
  readonly kind: 'example' | 'empty' | 'file';
  readonly scripts: readonly { readonly title: string; readonly text: string }[];
}

const gone = 'Nothing was deleted. Name the file: pgreflect start --reset --schema-file FILE.sql';

/** The content that flags ask for; else the earlier one. @throws CommandError if the file cannot be read. */
export function readContent(context: CommandContext, project: Pick<LocalProject, 'content' | 'schemaFile'>): Content {
  const asked = flagText(context, 'schema-file');
  const refills = context.flags.reset === true || project.content === null;
  const keeps = refills && asked === null && !context.flags.empty;
  if (keeps && project.content === 'empty') return { kind: 'empty', scripts: [] };
  const schemaFile = keeps ? project.schemaFile : asked;
  if (context.flags.empty) {
    if (schemaFile !== null) failCommand('--empty and --schema-file cannot be combined.', 'Use one of them.');
    return { kind: 'empty', scripts: [] };
  }
  if (schemaFile !== null)
    return {
      kind: 'file',
      scripts: [
        {
          title: schemaFile,
          text: readTypedFile(context, schemaFile, '--schema-file', keeps ? gone : packageFileHint(schemaFile)),
        },
      ],
    };
  const paths = ['examples/shop/schema.sql', 'examples/shop/data.sql'];
  return { kind: 'example', scripts: paths.map((title) => ({ title, text: readPackageFile(title) })) };
}

/** The manual names files of the package as in a checkout; elsewhere they have another path. Undefined for other files. */
function packageFileHint(path: string): string | undefined {
  const found = findExample(path);
  return found === null ? undefined : `It is in the package: --schema-file '${found}'`;
}

/** Creates the database if missing. `pool` is connected to another one. */
export async function createLocalDatabase(pool: SystemPool): Promise<void> {
  const [row] = await pool.query('select from pg_catalog.pg_database d where d.datname = $1', [localDatabase]);
  if (row === undefined) await pool.outsideTransaction('create database pgreflect');
}

/** Prepares the database of `url` (the superuser's) for a start. @throws CommandError */
export async function fillDatabase(
  url: string,
  project: LocalProject,
  names: Omit<RoleSetup, 'adoptedRoles'>,
  content: Content,
): Promise<void> {
  await withDatabase(url, async (pool) => {
    const setup = { ...names, grantDefaults: false, adoptedRoles: [] };
    const isNew = project.content === null && !(await isFilled(pool));
    const grantDefaults = names.grantDefaults && isNew;
    // First, because the user's schema may use auth.uid() in policies, grant to the roles, and revoke what is granted by default.
    assertDone(
      await setUpDatabase(pool, { ...setup, grantDefaults }, { watch: false, auth: true, authRole: null }, () => {}),
    );
    if (isNew) await runScripts(pool, content);
    assertDone(await setUpDatabase(pool, setup, { watch: true, auth: false, authRole: null }, () => {}));
  });
}

function assertDone(outcomes: readonly StepOutcome[]): void {
  const refused = outcomes.filter(({ result }) => result === 'refused');
  if (refused.length === 0) return;
  throw new CommandError(refused.map(({ topic, reason }) => ({ problem: `${topic}: ${reason}.`, fix: null })));
}

/** Whether an earlier start, which was killed before it noted that, has run the scripts. */
async function isFilled(pool: SystemPool): Promise<boolean> {
  const [row] = await pool.query(`select pg_catalog.shobj_description(d.oid, 'pg_database') as mark
    from pg_catalog.pg_database d where d.datname = pg_catalog.current_database()`);
  return row?.mark === 'pgreflect: filled';
}

/** Runs all scripts and sets a mark in one transaction, so that after a killed start nothing is repeated or skipped. */
async function runScripts(pool: SystemPool, content: Content): Promise<void> {
  await pool.transaction(async (tx) => {
    // The user's script runs with the settings of an ordinary connection.
    await tx.query('reset all');
    for (const script of content.scripts) {
      try {
        await tx.query(withoutRestrictions(script.text));
      } catch (error) {
        throw error instanceof DatabaseError
          ? scriptError(script.title, withoutRestrictions(script.text), error)
          : error;
      }
    }
    // A dump sets an empty search path for the connection.
    await tx.query(`reset all; comment on database pgreflect is 'pgreflect: filled'`);
  });
}

/** Recent dumps start and end with these two psql commands, which mean nothing here. */
function withoutRestrictions(text: string): string {
  return text.replaceAll(/^\\(un)?restrict .*$/gm, '');
}

function scriptError(title: string, text: string, error: DatabaseError): CommandError {
  const fromPsql = /^\\[a-z]/m.test(text) || /^copy .* from stdin/im.test(text);
  const fix = /^schema "(auth|pgreflect)" already exists/.test(error.primary)
    ? 'The gateway has made it. Dump without it: pg_dump --exclude-schema auth --exclude-schema pgreflect'
    : fromPsql
      ? 'The file has psql commands or `copy ... from stdin`. Dump with --inserts, or run: pgreflect start --empty, then psql DATABASE_URL -f FILE'
      : 'Correct the file and start again. Nothing was stored.';
  return new CommandError([{ problem: placeIn(title, text, error), fix }], error);
}

/** The error with line, column and the line itself, if PostgreSQL reports a position. */
function placeIn(title: string, text: string, { primary, position }: DatabaseError): string {
  if (position === null) return `${title}: ${primary}`;
  const before = [...text]
    .slice(0, position - 1)
    .join('')
    .split('\n');
  const [line, column] = [before.length, [...before.at(-1)!].length + 1];
  const shown = onOneLine(text.split('\n')[line - 1]!.trim());
  return `${title}, line ${line}, column ${column}: ${primary}\n  ${[...shown].slice(0, maxShown).join('')}`;
}

/** Most characters shown of a line. */
const maxShown = 160;
