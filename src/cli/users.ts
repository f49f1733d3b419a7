/** `pgreflect users import|export`: users with password hashes, identities and second factors, as lines of JSON. */
import { createReadStream, existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { exportUsers } from '../auth/move/export-users.ts';
import { type Imported, importUsers, type LineNote } from '../auth/move/import-users.ts';
import { maxLineBytes } from '../auth/move/user-line.ts';
import { loadOptionsOrThrow } from '../config/load-options.ts';
import { linesOf } from '../shared/lines.ts';
import { onOneLine } from '../shared/one-line.ts';
import { type Command, type CommandContext, CommandError, failCommand, resolveTypedPath } from './shared/command.ts';
import { authDatabaseUrlFor, chooseAction, withAuthTables } from './shared/with-auth-tables.ts';

const names = ['databaseUrl', 'adminDatabaseUrl', 'authenticatedRole', 'jwtAud', 'adoptRole'] as const;
const actions = ['import', 'export'] as const;
const importedTables = ['users', 'identities', 'mfa_factors'];

/** The command `pgreflect users`. */
export const users: Command = {
  flags: [{ flag: 'dry-run', doc: 'import: check every line against the database, and store nothing.' }],
  notes: `Connects as the owner of the auth tables (--admin-database-url, else --database-url).

import stores all users of the file or none. A bad line is named with what is wrong. Users who are there already stay as they
are. export writes a new file that only you can read. It has password hashes and secrets of second factors.

Examples:
  pgreflect users import users.jsonl --dry-run
  pgreflect users export users.jsonl`,
  run: runUsers,
};

async function runUsers(context: CommandContext): Promise<number> {
  const { values } = loadOptionsOrThrow(names, context.sources);
  const action = chooseAction('users', context, actions);
  const [, typed] = context.operands;
  if (typed === undefined)
    failCommand(`pgreflect users ${action} needs a file.`, `Example: pgreflect users ${action} users.jsonl`);
  if (action === 'export' && context.flags['dry-run']) failCommand('pgreflect users export takes no --dry-run.');
  const url = authDatabaseUrlFor(values, context);
  const tables = { url, adopted: values.adoptRole };
  if (action === 'export') return runExport(tables, context, typed);
  const defaults = { role: values.authenticatedRole!, audience: values.jwtAud?.[0] ?? 'authenticated' };
  const isTrial = context.flags['dry-run'] === true;
  const onSkipped = ({ line, reason }: LineNote) => context.note(`line ${line}: left out; ${reason}.`);
  // Refuse a file that is not there before connecting.
  const file = await open(resolveTypedPath(context, typed));
  try {
    if ((await file.stat()).isDirectory()) failCommand(`"${typed}" is a directory.`, 'Name a file.');
    const lines = linesOf(createReadStream('', { fd: file }), maxLineBytes);
    const options = { ...defaults, isTrial, onSkipped };
    const imported = await withAuthTables({ ...tables, writes: importedTables }, (pool) =>
      importUsers(pool, lines, options),
    );
    return report(context, imported, isTrial);
  } finally {
    // The stream may have closed it.
    await file.close().catch(() => {});
  }
}

function report(context: CommandContext, { users, existing, skipped, problems }: Imported, isTrial: boolean): number {
  if (problems.length > 0) {
    throw new CommandError([
      ...problems.map(({ line, reason }) => ({ problem: `line ${line} ${onOneLine(reason)}.`, fix: null })),
      { problem: 'No user was imported.', fix: 'Correct the file, then run the command again.' },
    ]);
  }
  context.print(`${isTrial ? 'Would import' : 'Imported'} ${counted(users)}.`);
  if (existing > 0) context.note(`There already, and not changed: ${counted(existing)}.`);
  if (skipped > 0) context.note(`Left out for the reasons above: ${counted(skipped)}.`);
  return 0;
}

async function runExport(
  tables: Parameters<typeof withAuthTables>[0],
  context: CommandContext,
  typed: string,
): Promise<number> {
  const path = resolveTypedPath(context, typed);
  if (existsSync(path))
    failCommand(`"${typed}" is there already; export does not overwrite it.`, 'Choose another name.');
  const part = `${path}.part`;
  if (existsSync(part))
    failCommand(
      `"${typed}.part" is there already.`,
      'If no other export is writing it, delete it, then run the command again.',
    );
  const file = await open(part, 'wx', 0o600);
  try {
    const count = await withAuthTables(tables, (pool) => exportUsers(pool, (lines) => file.writeFile(lines)));
    await file.sync();
    await rename(part, path);
    context.print(`Exported ${counted(count)}.`);
    context.note(`"${typed}" has password hashes and secrets of second factors. Delete it when you no longer need it.`);
  } finally {
    await file.close();
    await rm(part, { force: true });
  }
  return 0;
}

function counted(count: number): string {
  return count === 1 ? '1 user' : `${count} users`;
}
