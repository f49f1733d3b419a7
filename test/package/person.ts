/**
 * A person at a terminal, for the pages that tell one what to type: blocks run in a new shell each, which has nothing of this
 * process but the programs of the machine. What a person has to put in place of a word of the page is told.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { parsePage } from '../docs/parse-page.ts';
import { pathOfPerson } from '../support/install-packages.ts';
import type { WhenOver } from '../support/when-over.ts';

/** The checkout. */
export const root = join(import.meta.dirname, '../..');

/** Where something is typed. */
export interface Terminal {
  readonly directory: string;
  /** Beside what every shell of the machine has. */
  readonly environment: Readonly<Record<string, string>>;
  /** A word of the page, and what a person writes instead. */
  readonly instead: Readonly<Record<string, string>>;
}

/** Something that goes on running. */
export interface Program {
  /** Everything printed so far. */
  text(): string;
  /** Waits until what it prints matches. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  /** Ctrl-C; resolves when everything that the shell started has ended. */
  interrupt(): Promise<void>;
}

/** The shell blocks of a page. */
export interface TypedPage {
  readonly text: string;
  /** Types the block with this first line, and waits for its end. Returns what it printed to standard output. */
  type(first: string, terminal: Terminal): Promise<string>;
  /** Types the block with this first line, which goes on running. */
  start(first: string, terminal: Terminal): Program;
  /** Nobody types the block with this first line here, for a reason. */
  leaveOut(first: string, reason: string): void;
  /** Types what stands within a sentence, and what a person adds. Returns what it printed to standard output. */
  typeWords(words: string, terminal: Terminal, more?: string): Promise<string>;
  /** The text of the block of another language that begins with a line. */
  block(language: string, first: string): string;
  /** Fails where a block was neither typed nor left out. */
  expectAllTyped(): void;
}

/** A folder that everybody can enter, because the server of `start` may be another user; it is gone in the end. */
export function openFolder(whenOver: WhenOver = onTestFinished): string {
  const directory = mkdtempSync(join(tmpdir(), 'pgreflect-person-'));
  execFileSync('chmod', ['755', directory]);
  whenOver(async () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** The files of the checkout, as a clone has them: nothing that is ignored, so no packages and no build. */
export function copyCheckout(directory: string): void {
  const files = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  for (const path of execFileSync('git', files, { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    cpSync(join(root, path), join(directory, path));
  }
}

/** Reads a page of the checkout for typing. */
export function openPage(path: string): TypedPage {
  const text = readFileSync(join(root, path), 'utf8');
  const blocks = parsePage(text).parts.filter((part) => part.kind === 'code');
  const left = new Set(blocks.filter(({ language }) => language === 'sh'));
  const take = (first: string): string => {
    const found = [...left].find(({ body }) => body.startsWith(`${first}\n`));
    expect(found, `${path} has no block, or none that is left, that begins so: ${first}`).toBeDefined();
    left.delete(found!);
    return found!.body;
  };
  return {
    text,
    type: (first, terminal) => finish(start(take(first), terminal)),
    start: (first, terminal) => start(take(first), terminal),
    leaveOut: (first) => void take(first),
    typeWords(words, terminal, more = '') {
      expect(text).toContain(`\`${words}\``);
      return finish(start(`${words}${more}\n`, terminal));
    },
    block(language, first) {
      const found = blocks.find((one) => one.language === language && one.body.startsWith(`${first}\n`));
      expect(found, `${path} has no ${language} that begins so: ${first}`).toBeDefined();
      return found!.body;
    },
    expectAllTyped: () =>
      expect(
        [...left].map(({ body }) => body),
        `${path}: typed by nobody`,
      ).toEqual([]),
  };
}

/** Types lines, also before any test runs, and waits for their end. Returns what they print to standard output. */
export function typeLines(lines: string, terminal: Terminal): Promise<string> {
  return finish(run(`${lines}\n`, terminal));
}

/** Types lines that go on running. What still runs when the test has ended is stopped. */
export function startLines(lines: string, terminal: Terminal): Program {
  return start(`${lines}\n`, terminal);
}

function start(typed: string, terminal: Terminal): Shell {
  const shell = run(typed, terminal);
  onTestFinished(shell.interrupt);
  return shell;
}

interface Shell extends Program {
  readonly script: string;
  readonly child: ChildProcess;
  /** Standard output alone. */
  out(): string;
  readonly closed: Promise<number | null>;
}

/** What npm and this test run have set, and what would be an option of the product. */
const notOfAPerson = /^(npm_|NODE_(?!EXTRA_CA_CERTS)|VITEST|INIT_CWD|TEST|PG|GOTRUE|SUPABASE|DATABASE_URL|PORT$)/i;

function run(typed: string, { directory, environment, instead }: Terminal): Shell {
  const script = Object.entries(instead).reduce((text, [word, real]) => text.replaceAll(word, real), typed);
  const machine = Object.entries(process.env).filter(([name]) => !notOfAPerson.test(name));
  const child = spawn('sh', ['-ec', script], {
    cwd: directory,
    env: { ...Object.fromEntries(machine), PATH: pathOfPerson(), npm_config_prefer_offline: 'true', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, as a terminal gives it: Ctrl-C reaches all of it.
    detached: true,
  });
  let [out, all] = ['', ''];
  const listeners = new Set<() => void>();
  const hear = (text: string) => {
    all += text;
    for (const listener of [...listeners]) listener();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    hear(text);
  });
  child.stderr.setEncoding('utf8').on('data', hear);
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  const interrupt = async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGINT');
    await closed;
  };
  return {
    script,
    child,
    closed,
    interrupt,
    out: () => out,
    text: () => all,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(all);
          if (match === null) return;
          listeners.delete(look);
          resolve(match);
        };
        listeners.add(look);
        void closed.then(() => reject(new Error(`ended without ${pattern}:\n${script}\n${all}`)));
        look();
      }),
  };
}

async function finish(shell: Shell): Promise<string> {
  const code = await shell.closed;
  if (code !== 0) throw new Error(`ended with ${code}:\n${shell.script}\n${shell.text()}`);
  return shell.out();
}
