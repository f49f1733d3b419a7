/**
 * The stored state of `pgreflect start`, in `.pgreflect/project.json`: ref, secret, keys and database passwords.
 * Readable only for its owner, and ignored by Git. Beside it, `process` contains the running process and its address.
 */
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ApiKeys, makeApiKeys, makeSecret } from '../../config/keys.ts';
import type { SigningKeys } from '../../config/rotate-keys.ts';
import { projectRef } from '../../config/value-kinds.ts';
import { makeAccessToken } from '../../management/tokens/access-tokens.ts';
import { isObject, parseJson } from '../../shared/json.ts';
import { failCommand } from './command.ts';

/** The name of the database. */
export const localDatabase = 'pgreflect';

/** The content of project.json. */
export interface LocalProject {
  /** Version of this file's format; 1. */
  readonly version: number;
  readonly ref: string;
  /** Signs until the keys were rotated. */
  readonly jwtSecret: string;
  /** The keys since then; absent before. */
  readonly jwtKeys?: SigningKeys;
  readonly anonKey: string;
  readonly serviceKey: string;
  /** For the management API. */
  readonly accessToken: string;
  readonly superuserPassword: string;
  /** For the login role `authenticator`. */
  readonly loginPassword: string;
  /** The database's port; null before its first run. */
  readonly databasePort: number | null;
  /** The content of the database; null before it is filled. */
  readonly content: 'example' | 'empty' | 'file' | null;
  /** The file it was filled with, as given; null: none. Kept when the data is deleted. */
  readonly schemaFile: string | null;
}

/** The project directory of a working directory. */
export function projectDirectory(workingDirectory: string): string {
  return join(workingDirectory, '.pgreflect');
}

/** Loads or creates the project. @throws CommandError if the file is unusable, or others may know its secrets. */
export async function loadProject(
  directory: string,
  roles: { anonRole: string; serviceRole: string },
): Promise<LocalProject> {
  makeDirectory(directory);
  return readProject(directory) ?? makeProject(directory, roles);
}

/** The file of a project. */
export function projectFile(directory: string): string {
  return join(directory, 'project.json');
}

/** The project; null if there is none. @throws CommandError as `loadProject`. */
export function readProject(directory: string): LocalProject | null {
  refuseForeign(directory);
  const path = projectFile(directory);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return null;
  }
  assertPrivate(path);
  const project = parseJson(text);
  if (isObject(project) && project.version === 1 && typeof project.jwtSecret === 'string') {
    return project as unknown as LocalProject;
  }
  failCommand(
    `${path} is damaged, or a newer pgreflect wrote it.`,
    `Use that version, or start over (all data is lost): rm -rf '${directory}'`,
  );
}

function makeDirectory(directory: string): void {
  refuseForeign(directory);
  // Other users may enter, but not list it: as root, the database server runs as another user below it.
  mkdirSync(directory, { recursive: true, mode: 0o711 });
  // Its content must not be committed.
  writeWhole(join(directory, '.gitignore'), '*\n', 0o644);
}

function refuseForeign(directory: string): void {
  const path = findForeign(directory);
  if (path !== null) {
    failCommand(
      `${path} belongs to another user, who may have chosen the secrets in it.`,
      'Start in a directory of your own.',
    );
  }
}

/** A file of the project that another user created, and may know or have chosen; null: none. Includes links. */
function findForeign(directory: string): string | null {
  const own = process.getuid?.();
  const owners = (path: string) =>
    [lstatSync, statSync].map((look) => look(path, { throwIfNoEntry: false })?.uid ?? own);
  const paths = [directory, ...['project.json', 'process'].map((name) => join(directory, name))];
  return paths.find((path) => owners(path).some((owner) => owner !== own)) ?? null;
}

/** Refuses a file that came with a checkout, whose author knows its secrets: we write it for its owner alone. */
function assertPrivate(path: string): void {
  // Windows has no such modes.
  if (process.getuid === undefined || (statSync(path).mode & 0o077) === 0) return;
  failCommand(
    `Other users may read ${path}, which pgreflect writes for you alone. Its secrets may have come with a checkout.`,
    `Start anew without the directory, or, if the secrets are yours: chmod 600 '${path}'`,
  );
}

async function makeProject(directory: string, roles: { anonRole: string; serviceRole: string }): Promise<LocalProject> {
  const jwtSecret = makeSecret();
  const keys = await makeApiKeys(jwtSecret, roles.anonRole, roles.serviceRole);
  const project: LocalProject = {
    version: 1,
    ref: makeRef(),
    jwtSecret,
    ...keys,
    accessToken: makeAccessToken(),
    superuserPassword: randomBytes(18).toString('base64url'),
    loginPassword: randomBytes(18).toString('base64url'),
    databasePort: null,
    content: null,
    schemaFile: null,
  };
  writeProject(directory, project);
  return project;
}

/** The keys of a project, or of the operator's own secret if given. */
export async function apiKeysOf(
  project: LocalProject,
  { secret, anonRole, serviceRole }: { secret: string | null; anonRole: string; serviceRole: string },
): Promise<ApiKeys> {
  return secret === null ? project : makeApiKeys(secret, anonRole, serviceRole);
}

/** Twenty lower-case letters. */
function makeRef(): string {
  return [...randomBytes(20)].map((byte) => String.fromCharCode(97 + (byte % 26))).join('');
}

/** Writes the project's file. */
export function writeProject(directory: string, project: LocalProject): void {
  writePrivate(projectFile(directory), `${JSON.stringify(project, null, 2)}\n`);
}

/** Writes the whole file or nothing; readable only for its owner. */
export function writePrivate(path: string, text: string): void {
  writeWhole(path, text, 0o600);
}

/** A link in its place goes: it may have come with a checkout, and name a file elsewhere. */
function writeWhole(path: string, text: string, mode: number): void {
  const made = `${path}.new`;
  rmSync(made, { force: true });
  writeFileSync(made, text, { mode, flag: 'wx' });
  renameSync(made, path);
}

/** Marks the project as running here. @returns Removes the mark. @throws CommandError if another process runs it. */
export function claimProject(directory: string): () => void {
  const path = join(directory, 'process');
  const owner = readOwner(path);
  if (owner !== null) {
    failCommand(
      `This project is running already, as process ${owner}.`,
      `Use that one, stop it (kill ${owner}), or start in another directory with another --port.`,
    );
  }
  makeDirectory(directory);
  writeWhole(path, `${process.pid}\n`, 0o644);
  return () => {
    rmSync(path, { force: true });
    removeEmpty(directory);
  };
}

/** A start that was refused leaves no trace. */
function removeEmpty(directory: string): void {
  if (readdirSync(directory).join() === '.gitignore') rmSync(directory, { recursive: true, force: true });
}

/** Publishes the address of the running project for other commands. Not secret: anyone may read it. */
export function publishAddress(directory: string, url: string, databasePort: number): void {
  writeWhole(join(directory, 'process'), `${process.pid}\n${url}\n${databasePort}\n`, 0o644);
}

/** The connection string of a role of a local project. */
export function localDatabaseUrl(port: number | null, role: 'postgres' | 'authenticator', password: string): string {
  return `postgresql://${role}:${encodeURIComponent(password)}@127.0.0.1:${port}/${localDatabase}`;
}

/** The running project of a directory and its address; null if none runs. */
export function findRunningProject(directory: string): (LocalProject & { url: string }) | null {
  try {
    const [pid = '', url = '', databasePort = ''] = readFileSync(join(directory, 'process'), 'utf8').split('\n');
    process.kill(Number.parseInt(pid, 10), 0);
    // An untrusted checkout may contain such files.
    if (!isLocalUrl(new URL(url)) || findForeign(directory) !== null) return null;
    const project: LocalProject = JSON.parse(readFileSync(join(directory, 'project.json'), 'utf8'));
    return { ...project, ref: projectRef.parseText(project.ref), url, databasePort: Number(databasePort) };
  } catch {
    return null;
  }
}

/** Whether an address is this machine's. Names that only usually are, such as `app.localhost`, are not. */
export function isLocalUrl({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** The process of the mark, if it is alive and ours. A killed one leaves its mark behind. */
function readOwner(path: string): number | null {
  try {
    const owner = Number.parseInt(readFileSync(path, 'utf8'), 10);
    process.kill(owner, 0);
    const isOurs =
      owner !== process.pid &&
      (process.platform !== 'linux' || /start/.test(readFileSync(`/proc/${owner}/cmdline`, 'utf8')));
    return isOurs ? owner : null;
  } catch {
    return null;
  }
}
