/**
 * The programs of examples/clients, run as a person runs them: `npm run NAME` with the keys of local-keys.ts.
 *
 * Their packages are installed here and not by `npm ci` in the root: they are large, need another major of graphql, and
 * only these tests want them. They are installed again when their lock file has changed.
 */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { anonKey, secret } from './http.ts';

const directory = join(import.meta.dirname, '../../examples/clients');
const run = promisify(execFile);

/** `npm ci` in examples/clients, unless what its lock file says is there already. Needs the npm registry. */
export function installClients(): void {
  const lock = readFileSync(join(directory, 'package-lock.json'), 'utf8');
  const installed = join(directory, 'node_modules', '.installed-lock.json');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === lock) return;
  console.log('Installing the packages of examples/clients (270 MB, once): npm ci --prefix examples/clients');
  const { status, stderr } = spawnSync('npm', ['ci', '--prefix', directory, '--prefer-offline'], {
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (status !== 0) {
    throw new Error(
      `The client tests need the packages of examples/clients, and they cannot be installed. To see why: npm ci --prefix examples/clients\n${stderr}`,
    );
  }
  writeFileSync(installed, lock);
}

/** Removes what earlier runs made of an earlier schema. */
export function removeGenerated(): void {
  for (const folder of ['.', 'relay', 'codegen'])
    rmSync(join(directory, folder, '__generated__'), { recursive: true, force: true });
}

/**
 * Runs a script of examples/clients/package.json and returns the lines it printed to standard output.
 *
 * @throws Error where it ends with another code than 0; the message has all it printed.
 */
export async function runClient(name: string, env: Readonly<Record<string, string>>): Promise<string[]> {
  // The programs run under the Node that runs the tests.
  const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
  const { HOME = '' } = process.env;
  const options = { cwd: directory, env: { PATH, HOME, ...env }, timeout: 30_000 };
  try {
    const { stdout } = await run('npm', ['run', '--silent', name], options);
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
    const { stdout } = await run(process.execPath, [join(directory, 'local-keys.ts'), project]);
    return Object.fromEntries([...stdout.matchAll(/^export (\w+)=(\S+)$/gm)].map(([, name, value]) => [name!, value!]));
  } finally {
    rmSync(project, { recursive: true });
  }
}
