/**
 * Runs the blocks of a page in their order and returns the page with the answers that they gave.
 *
 *   sql                runs as the owner of the database; a `json` behind it is its rows; `sql fails` + text: its error;
 *                      `sql since=15`: needs that version of PostgreSQL, and is left out on older ones
 *   graphql + json     an operation and its answer, of a subscription the first; `# role:`, `# claims:`, `# variables:` and `# key: service` in it say who asks
 *   sh + text or json  commands in a folder of the page, and what they print; `sh exit=1` where they are to fail
 *   js + text          a module with the published client; `js prelude` begins all that follow; `js node20` has no more than Node 20
 *   html template      (or `text template`) with the data of a `json data` in front; the block behind it is what it becomes
 *   toml               a `pgreflect.toml`, read as `serve` reads it
 *   anything FILE=…    is written to that file of the folder
 */

import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, promisify } from 'node:util';
import { vi } from 'vitest';
import { loadServeOptions } from '../../src/config/load-config.ts';
import { parseTemplate, renderTemplate } from '../../src/email/engine/template.ts';
import { sampleData } from '../../src/email/lint/template-samples.ts';
import { runCommand } from '../commands/run-command.ts';
import { secret, serviceKey, token } from '../support/http.ts';
import { readEvents, type StreamEvent } from '../support/live.ts';
import { renderJson, renderText } from './answers.ts';
import type { PageWorld } from './page-world.ts';
import { type CodePart, type Page, printPage } from './parse-page.ts';

const run = promisify(execFile);

/** What a block gave, for the answer behind it. */
type Outcome = { readonly json: unknown } | { readonly text: string };

interface Progress {
  /** Of the block before, where no answer has shown it yet. */
  outcome: Outcome | null;
  prelude: string;
  data: Readonly<Record<string, unknown>>;
}

/** Runs the page. @throws Error with the line of the block that failed. */
export async function runPage(page: Page, world: PageWorld): Promise<string> {
  const progress: Progress = { outcome: null, prelude: '', data: {} };
  const parts = [];
  for (const part of page.parts) {
    if (part.kind === 'text' || part.notRun !== null) parts.push(part);
    else parts.push({ ...part, body: await runBlock(part, world, progress).catch((error) => fail(part, error)) });
  }
  return printPage(parts);
}

function fail({ line, language }: CodePart, error: Error): never {
  throw new Error(`the block ${language} of line ${line}: ${error.message}`, { cause: error });
}

/** @returns The body as it is to stand on the page. */
async function runBlock(part: CodePart, world: PageWorld, progress: Progress): Promise<string> {
  const { language, words, body } = part;
  const { outcome } = progress;
  const isAnswer = words.length === 0 && ['json', 'text'].includes(language);
  if (isAnswer || words.includes('result')) {
    if (outcome === null) throw new Error('there is nothing that it could be the answer of');
    progress.outcome = null;
    if (language === 'json') return renderJson(body, 'json' in outcome ? outcome.json : JSON.parse(outcome.text));
    return renderText(body, world.toWritten('json' in outcome ? JSON.stringify(outcome.json) : outcome.text));
  }
  progress.outcome = await runSource(part, world, progress);
  return body;
}

async function runSource(part: CodePart, world: PageWorld, progress: Progress): Promise<Outcome | null> {
  const { language, words, body } = part;
  const file = words.find((word) => word.startsWith('file='))?.slice('file='.length);
  if (file !== undefined) writeFileSync(join(world.directory, file), world.toReal(body));
  if (words.includes('template')) return { text: renderSample(part, progress.data) };
  if (language === 'json' && words.includes('data')) {
    progress.data = JSON.parse(body);
    return null;
  }
  switch (language) {
    case 'sql':
      return runSql(part, world);
    case 'graphql':
      return file === undefined ? { json: await ask(body, world) } : null;
    case 'sh':
      return { text: await runShell(part, world) };
    case 'js':
      if (words.includes('prelude')) progress.prelude = body;
      if (words.includes('prelude')) return null;
      return { text: await runModule({ ...part, body: progress.prelude + body }, world) };
    case 'toml':
      readConfigFile(body, world);
      return null;
    default:
      if (file === undefined) throw new Error('nobody knows how to run it; say why not: <!-- not run: … -->');
      return null;
  }
}

async function runSql({ words, body }: CodePart, { database }: PageWorld): Promise<Outcome | null> {
  const since = Number(words.find((word) => word.startsWith('since='))?.slice('since='.length) ?? 0);
  const [server] = await database.query<{ major: number }>(
    `select current_setting('server_version_num')::int / 10000 as major`,
  );
  if (server!.major < since) return null;
  if (!words.includes('fails')) return { json: await database.query(body) };
  const message = await database.query(body).then(
    () => null,
    (error: Error) => error.message,
  );
  if (message === null) throw new Error('it was to fail');
  return { text: `ERROR:  ${message}` };
}

async function ask(operation: string, { auth }: PageWorld): Promise<unknown> {
  const note = (name: string) => new RegExp(`^# ${name}: (.*)$`, 'm').exec(operation)?.[1];
  const role = note('role');
  const claims = JSON.parse(note('claims') ?? '{}') as object;
  const isSubscription = /^subscription\b/m.test(operation);
  const response = await fetch(`${auth?.url}/graphql/v1`, {
    method: 'POST',
    headers: {
      apikey: note('key') === 'service' ? serviceKey : await token({ role: 'anon' }),
      'content-type': 'application/json',
      ...(isSubscription ? { accept: 'text/event-stream' } : {}),
      ...(role === undefined ? {} : { authorization: `Bearer ${await token({ role, ...claims })}` }),
    },
    body: JSON.stringify({ query: operation, variables: JSON.parse(note('variables') ?? '{}') }),
  });
  if (!isSubscription) return response.json();
  const { value } = await readEvents(response.body!).next();
  return JSON.parse((value as StreamEvent).data);
}

async function runShell({ words, body }: CodePart, world: PageWorld): Promise<string> {
  const script = world.toReal(body);
  const expected = Number(words.find((word) => word.startsWith('exit='))?.slice('exit='.length) ?? 0);
  const lines = script.replaceAll('\\\n', '').trimEnd().split('\n');
  const groups = lines.flatMap((line) => [...line.matchAll(ownCommand)].map((match) => match.groups));
  const commands = groups as unknown as OwnCommand[];
  const isOwn = commands.length === lines.length;
  const result = await (isOwn ? runCommandsHere(commands, world) : runScript(script, world));
  if (result.code !== expected) throw new Error(`ended with ${result.code}:\n${result.out}${result.err}`);
  return result.out;
}

/** A command of ours, which may go to a file. */
interface OwnCommand {
  readonly command: string;
  readonly file?: string;
}
const ownCommand = /^(?:\(umask 077; )?(?:npx )?pgreflect (?<command>[\w ,./:=@$-]+?)(?: > (?<file>[\w.]+)\)?)?$/g;

/** Lines that are commands of ours alone run in this process, which is ten times as fast; the first that fails is the last. */
async function runCommandsHere(commands: readonly OwnCommand[], { environment, directory }: PageWorld) {
  let [code, out, err] = [0, '', ''];
  for (const { command, file } of commands) {
    if (code !== 0) break;
    const words = command
      .split(/ +/)
      .map((word) => word.replace(/^\$(\w+)$/, (_, name: string) => environment[name] ?? ''));
    const ended = await runCommand(words, { env: environment, directory });
    code = ended.code ?? 1;
    err += ended.err;
    if (file === undefined) out += ended.out;
    else writeFileSync(join(directory, file), ended.out);
  }
  return { code, out, err };
}

async function runScript(script: string, { environment, directory }: PageWorld) {
  const options = { cwd: directory, env: environment, timeout: 150_000 };
  return run('sh', ['-euc', script], options).then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      out: stdout,
      err: stderr,
    }),
  );
}

/** So many modules have been run: each has a name of its own, or it would be taken for the one before. */
let modules = 0;

/** A module runs in this process, which has loaded the client already, with what it prints kept; one for Node 20 needs its own. */
async function runModule({ words, body }: CodePart, { directory, environment, toReal }: PageWorld): Promise<string> {
  modules += 1;
  const path = join(directory, `block-${modules}.mjs`);
  writeFileSync(path, toReal(body));
  if (words.includes('node20')) {
    const options = { cwd: directory, env: environment, timeout: 150_000 };
    return (await run(process.execPath, ['--no-experimental-websocket', path], options)).stdout;
  }
  const printed: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((...given) => void printed.push(`${format(...given)}\n`));
  for (const name of ['ANON_KEY', 'SERVICE_KEY']) vi.stubEnv(name, environment[name]);
  const usual = process.cwd();
  process.chdir(directory);
  try {
    await import(path);
  } finally {
    process.chdir(usual);
    vi.unstubAllEnvs();
    log.mockRestore();
  }
  return printed.join('');
}

/** A secret that is good for everything that wants one; those of hooks have a form of their own. */
const hookSecret = `v1,whsec_${Buffer.from('a secret of more than thirty-two characters').toString('base64')}`;

/** As an email is, with the sample data of a confirmation, and over it what the page gives. */
function renderSample({ language, body }: CodePart, data: Readonly<Record<string, unknown>>): string {
  const template = parseTemplate(body, { kind: language === 'html' ? 'html' : 'text' });
  return renderTemplate(template, { ...sampleData('confirmation')[0], ...data }, { onWrongValue: () => {} });
}

/** A value that the field of a name like this takes. */
function secretNamed(name: string): string {
  if (!name.endsWith('PRIVATE_KEY')) return hookSecret;
  return String(
    generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
  );
}

function readConfigFile(body: string, { directory, environment }: PageWorld): void {
  writeFileSync(join(directory, 'pgreflect.toml'), body);
  const needed = { DATABASE_URL: environment.DATABASE_URL!, PGREFLECT_JWT_SECRET: secret };
  const names = [...body.matchAll(/env\((\w+)\)/g)].map(([, name = '']) => name);
  const secrets = Object.fromEntries(names.map((name) => [name, secretNamed(name)]));
  const { warnings, allProblems } = loadServeOptions({
    flags: new Map(),
    authFlags: new Map(),
    problems: [],
    configFile: 'pgreflect.toml',
    environment: { ...needed, ...secrets },
    workingDirectory: directory,
  });
  const found = [...warnings, ...allProblems.map(({ problem }) => problem)];
  if (found.length > 0) throw new Error(found.join('\n'));
}
