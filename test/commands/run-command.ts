/**
 * Runs commands of `pgreflect`: in this process, or as a child process, as a person would, and waits for its end or for a word it prints.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { runCommandLine } from '../../src/cli/run-process.ts';
import { version } from '../../src/shared/version.ts';
import { programs } from '../support/bundle-programs.ts';
import { childEnvironment } from '../support/sent-statements.ts';
import type { WhenOver } from '../support/when-over.ts';

/** What a command left behind. */
export interface Finished {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly directory?: string;
  /** The bundled one by default. */
  readonly program?: string;
}

/** A command that goes on running. */
export interface Running {
  /** Standard output and standard error so far. */
  text(): string;
  /** Resolves when the text matches; rejects when the command ends before. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  signal(name: NodeJS.Signals): void;
  /** Closes the ends of the pipes that it prints to, as a process that is killed does. */
  stopReading(): void;
  readonly finished: Promise<Finished>;
}

/** A directory that is gone after the test. */
export function temporaryDirectory(whenOver: WhenOver = onTestFinished): string {
  const directory = mkdtempSync(join(tmpdir(), 'pgreflect-command-'));
  whenOver(async () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Starts a command; it is stopped in the end where it still runs. The environment holds nothing else that we read. */
export function startCommand(
  args: readonly string[],
  options: RunOptions = {},
  whenOver: WhenOver = onTestFinished,
): Running {
  const running = spawnCommand(args, options);
  whenOver(async () => {
    running.signal('SIGTERM');
    await running.finished;
  });
  return running;
}

function spawnCommand(
  args: readonly string[],
  { env = {}, directory = tmpdir(), program = programs().main }: RunOptions,
  timeout?: number,
): Running {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  const child = spawn(process.execPath, [program, ...args], {
    cwd: directory,
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...childEnvironment, ...env },
    timeout,
  });
  let [out, err] = ['', ''];
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of [...listeners]) listener();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    tell();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
    tell();
  });
  const finished = new Promise<Finished>((resolve) => child.on('close', (code) => resolve({ code, out, err })));
  return {
    text: () => out + err,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(out + err);
          if (match === null) return;
          listeners.delete(look);
          resolve(match);
        };
        listeners.add(look);
        void finished.then(() => reject(new Error(`ended without ${pattern}:\n${out}${err}`)));
        look();
      }),
    signal: (name) => child.kill(name),
    stopReading() {
      child.stdout.destroy();
      child.stderr.destroy();
    },
    finished,
  };
}

/** When a command that should end is killed, in milliseconds: a little before its test. */
const processMs = 170_000;

/** Runs a command to its end in a process of its own, which a person does; takes half a second longer than `runCommand`. */
export function runProcess(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return spawnCommand(args, options, processMs).finished;
}

/** Runs a command to its end. The environment holds nothing else that we read. */
export async function runCommand(
  args: readonly string[],
  { env = {}, directory = tmpdir() }: Pick<RunOptions, 'env' | 'directory'> = {},
): Promise<Finished> {
  let [out, err] = ['', ''];
  const code = await runCommandLine(args, {
    environment: env,
    workingDirectory: directory,
    version,
    print: (text) => {
      out += `${text}\n`;
    },
    note: (text) => {
      err += `${text}\n`;
    },
    loaded() {},
  });
  return { code, out, err };
}
