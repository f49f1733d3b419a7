/**
 * The programs of examples/clients, run as a person runs them: `npm run NAME` with the keys of local-keys.ts.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { anonKey, secret } from './http.ts';
import { installPackages, pathOfPerson } from './install-packages.ts';

/** The folder of the programs. */
export const clientsDirectory = join(import.meta.dirname, '../../examples/clients');
const run = promisify(execFile);

/** Installs them: 270 MB, for they are as published. */
export function installClients(): void {
  installPackages('examples/clients');
}

/** Removes what earlier runs made of an earlier schema. */
export function removeGenerated(): void {
  for (const folder of ['.', 'relay', 'codegen', 'gql-tada', 'trusted'])
    rmSync(join(clientsDirectory, folder, '__generated__'), { recursive: true, force: true });
}

/**
 * Runs a script of examples/clients/package.json, with its operands, and returns the lines it printed to standard output.
 *
 * @throws Error where it ends with another code than 0; the message has all it printed.
 */
export async function runClient(name: string, env: Readonly<Record<string, string>>): Promise<string[]> {
  const options = { cwd: clientsDirectory, env: { PATH: pathOfPerson(), ...env } };
  const printed = await runProgram('npm', ['run', '--silent', ...name.split(' ')], options);
  return printed.trimEnd().split('\n');
}

/**
 * Runs a program of the installed packages, with their Node, in a folder, and returns what it printed to standard output.
 *
 * @throws Error where it ends with another code than 0; the message has all it printed.
 */
export async function runTool(
  cwd: string,
  name: string,
  operands: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const programs = join(clientsDirectory, 'node_modules/.bin');
  return runProgram(join(programs, name), operands, {
    cwd,
    env: { ...env, PATH: `${programs}${delimiter}${pathOfPerson()}` },
  });
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

async function runProgram(
  file: string,
  operands: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<string> {
  const { HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  try {
    const options = { cwd, env: { HOME, NODE_COMPILE_CACHE, ...env }, timeout: 170_000 };
    return (await run(file, operands, options)).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${file} ${operands.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}
