/**
 * Starts the measured servers as child processes and reads what the operating system knows of them (/proc, Linux only).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import type { ServerUser } from '../../../src/postgres/embedded/server-user.ts';
import { pausesEnvironment } from './pauses-of.ts';

/** A server that listens. */
export interface Target {
  readonly name: string;
  readonly pid: number;
  readonly port: number;
  /** Between the server and PostgreSQL; its CPU is counted apart. */
  readonly poolerPid?: number;
  /** What it has printed when it has ended by itself, null as long as it runs. */
  failure(): string | null;
  stop(): Promise<void>;
}

/** How to start one. */
export interface TargetOptions {
  readonly name: string;
  /** The running Node unless told. */
  readonly program?: string;
  /** Of the operating system; ourselves unless told. */
  readonly user?: ServerUser | null;
  readonly arguments: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Its port, or where to find it in what the process prints. */
  readonly port: number | RegExp;
}

const running = new Set<ChildProcess>();
// A bench that fails half-way must not leave servers behind.
process.once('exit', () => {
  for (const child of running) child.kill();
});

/** Starts a server; rejects when it ends or has not told its port in 30 s. */
export function startTarget({ name, program, user, arguments: options, env, port }: TargetOptions): Promise<Target> {
  const child = spawn(program ?? process.execPath, options, {
    ...(user ?? {}),
    env: { ...process.env, NODE_ENV: 'production', GRAPHILE_ENV: 'production', ...pausesEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return new Promise((resolve, reject) => {
    let output = '';
    const fail = (reason: string) => reject(new Error(`${name} ${reason}:\n${output}`));
    const timer = setTimeout(() => fail('did not start in 30 s'), 30_000);
    const finish = (found: number) => {
      clearTimeout(timer);
      const failure = () => (child.exitCode === null ? null : output);
      resolve({ name, pid: child.pid ?? 0, port: found, failure, stop: () => stop(child) });
    };
    const read = (chunk: Buffer) => {
      // Nothing but draining once it runs: the reader shares the machine with what is measured.
      if (output.length > 20_000) return;
      output += chunk;
      const found = typeof port === 'number' ? 0 : Number(port.exec(output)?.[1]);
      if (found) finish(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    if (typeof port === 'number') finish(port);
    child.on('exit', (code) => fail(`ended with code ${code}`));
  });
}

function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

/** Clock ticks of Linux are 10 ms everywhere we run. */
const secondsPerTick = 0.01;

/** CPU seconds, user and system, that a process has used; 0 when it is gone. */
export function cpuSeconds(pid: number): number {
  const fields = statFields(pid);
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * secondsPerTick;
}

/** CPU seconds of all children of a process, living and ended: the backends of a PostgreSQL server, the workers of a supervisor. */
export function childrenCpuSeconds(parent: number): number {
  const fields = statFields(parent);
  const ended = (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) * secondsPerTick;
  return childrenOf(parent).reduce((sum, child) => sum + cpuSeconds(child), ended);
}

/** Process ids of the living children. */
export function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && Number(statFields(Number(entry))[1]) === parent)
    .map(Number);
}

/** Fields of /proc/PID/stat from the state on; none when the process is gone. */
function statFields(pid: number): string[] {
  try {
    // The name in parentheses may contain blanks, so count from the last parenthesis.
    return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
  } catch {
    return [];
  }
}

/** Resident memory of a process and its children in MiB; what they share counts for each. */
export function residentMib(pid: number): number {
  return residentOf([pid, ...childrenOf(pid)]);
}

/** Looks at the memory of a process and its children ten times a second. @returns What ends it and gives the most that was seen, in MiB. */
export function watchMemory(pid: number): () => number {
  const pids = [pid, ...childrenOf(pid)];
  let most = residentOf(pids);
  const timer = setInterval(() => {
    most = Math.max(most, residentOf(pids));
  }, 100);
  return () => {
    clearInterval(timer);
    return most;
  };
}

function residentOf(pids: readonly number[]): number {
  const kib = pids.map((pid) => Number(/VmRSS:\s+(\d+)/.exec(readStatus(pid))?.[1] ?? 0));
  return Math.round(kib.reduce((sum, each) => sum + each, 0) / 1024);
}

/** Empty when the process is gone. */
function readStatus(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'latin1');
  } catch {
    return '';
  }
}
