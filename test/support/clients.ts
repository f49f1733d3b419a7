/**
 * The programs of examples/clients, run as a person runs them: `npm run NAME` with the keys of local-keys.ts.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { anonKey, secret } from './http.ts';
import { installPackages, pathOfPerson } from './install-packages.ts';

const directory = join(import.meta.dirname, '../../examples/clients');
const run = promisify(execFile);

/** Installs them: 270 MB, for they are as published. */
export function installClients(): void {
  installPackages('examples/clients');
}

/** Removes what earlier runs made of an earlier schema. */
export function removeGenerated(): void {
  for (const folder of ['.', 'relay', 'codegen'])
    rmSync(join(directory, folder, '__generated__'), { recursive: true, force: true });
}

/**
 * Runs a script of examples/clients/package.json, with its operands, and returns the lines it printed to standard output.
 *
 * @throws Error where it ends with another code than 0; the message has all it printed.
 */
export async function runClient(name: string, env: Readonly<Record<string, string>>): Promise<string[]> {
  const { HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  const options = { cwd: directory, env: { PATH: pathOfPerson(), HOME, NODE_COMPILE_CACHE, ...env }, timeout: 170_000 };
  try {
    const { stdout } = await run('npm', ['run', '--silent', ...name.split(' ')], options);
    return stdout.trimEnd().split('\n');
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`npm run ${name} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

/** What local-keys.ts prints for a project with the secret and the anon key of the tests, as environment variables. */
export async function localKeys(): Promise<Record<string, string>> {
  const project = mkdtempSync(join(tmpdir(), 'pgreflect-project-'));
  try {
    mkdirSync(join(project, '.pgreflect'));
    writeFileSync(join(project, '.pgreflect/project.json'), JSON.stringify({ anonKey, jwtSecret: secret }));
    const lines = await runClient(`keys -- ${project}`, {});
    return Object.fromEntries(lines.map((line) => /^export (\w+)=(\S+)$/.exec(line)!.slice(1, 3) as [string, string]));
  } finally {
    rmSync(project, { recursive: true });
  }
}
