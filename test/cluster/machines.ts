/**
 * Machines of a cluster as network namespaces of Linux on one bridge: each has its address and its processes, can lose its network
 * or its power, and comes back.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WhenOver } from '../support/when-over.ts';

const bridge = 'pgreflect0';
const prefix = 'pgreflect-';
const network = '10.77.0';
const cableOf = (name: string) => `pgr-${name}`;

/** The address of whoever runs the cluster, on its bridge. */
export const hostAddress = `${network}.1`;

/** How a program is run. */
interface ProgramOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** User of the operating system; root where nothing is said. */
  readonly user?: string;
}

/** One machine. */
export interface Machine {
  readonly name: string;
  readonly address: string;
  /** Starts a program whose output goes to a file of the machine. */
  start(program: string, args: readonly string[], options?: ProgramOptions): ChildProcess;
  /** Runs a program to its end and returns its output. */
  run(program: string, args: readonly string[], options?: ProgramOptions): string;
  /** The power fails: nobody hears of it, and every process is gone. */
  kill(): Promise<void>;
  /** The cable is pulled out, or put back in. */
  plug(isIn: boolean): void;
  /** No packet to these machines gets through, or all do again. */
  separate(others: readonly Machine[]): void;
  unite(others: readonly Machine[]): void;
}

function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Makes the bridge and the machines, by the last number of their addresses. All end when it is over. */
export async function createMachines<Name extends string>(
  numbers: Readonly<Record<Name, number>>,
  directory: string,
  whenOver: WhenOver,
): Promise<Readonly<Record<Name, Machine>>> {
  await beOnly(whenOver);
  await removeLeft();
  ip('link', 'add', bridge, 'type', 'bridge');
  whenOver(async () => ip('link', 'delete', bridge));
  ip('address', 'add', `${hostAddress}/24`, 'dev', bridge);
  ip('link', 'set', bridge, 'up');
  const names = Object.keys(numbers) as Name[];
  const entries = names.map((name) => [name, createMachine(name, numbers[name], directory, whenOver)] as const);
  return Object.fromEntries(entries) as Readonly<Record<Name, Machine>>;
}

/** Until it is over, no other process of this computer may do the same. The kernel takes the name back from a killed one. */
async function beOnly(whenOver: WhenOver): Promise<void> {
  const claim = createServer();
  const claimed = once(claim, 'listening').catch(() => {
    throw new Error('A cluster runs on this computer already.');
  });
  claim.listen('\0pgreflect-cluster');
  await claimed;
  whenOver(async () => void claim.close());
}

/** A run that was killed could remove nothing. */
async function removeLeft(): Promise<void> {
  const found = execFileSync('ip', ['netns', 'list'], { encoding: 'utf8' }).split('\n');
  const left = found.map((line) => line.split(' ')[0] as string).filter((name) => name.startsWith(prefix));
  for (const namespace of left) {
    await endAll(namespace);
    spawnSync('ip', ['link', 'delete', cableOf(namespace.slice(prefix.length))]);
    ip('netns', 'delete', namespace);
  }
  spawnSync('ip', ['link', 'delete', bridge]);
}

function createMachine(name: string, number: number, directory: string, whenOver: WhenOver): Machine {
  const namespace = prefix + name;
  const cable = cableOf(name);
  const address = `${network}.${number}`;
  ip('netns', 'add', namespace);
  whenOver(async () => {
    await endAll(namespace);
    ip('link', 'delete', cable);
    ip('netns', 'delete', namespace);
  });
  ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
  ip('link', 'set', cable, 'master', bridge, 'up');
  ip('-netns', namespace, 'link', 'set', 'lo', 'up');
  ip('-netns', namespace, 'address', 'add', `${address}/24`, 'dev', 'eth0');
  ip('-netns', namespace, 'link', 'set', 'eth0', 'up');

  const command = (program: string, args: readonly string[], { user }: ProgramOptions): readonly string[] => {
    const as = user === undefined ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups', '--'];
    return ['netns', 'exec', namespace, ...as, program, ...args];
  };
  const environment = ({ env = {} }: ProgramOptions) => ({
    PATH: process.env.PATH,
    HOME: join(directory, name),
    LC_ALL: 'C.UTF-8',
    ...env,
  });
  const route = (action: 'add' | 'delete', others: readonly Machine[]) => {
    for (const other of others) ip('-netns', namespace, 'route', action, 'blackhole', other.address);
  };
  const plug = (isIn: boolean) => ip('link', 'set', cable, isIn ? 'up' : 'down');
  return {
    name,
    address,
    plug,
    start(program, args, options = {}) {
      const log = openSync(join(directory, `${name}-${program.split('/').at(-1)}.log`), 'a');
      const child = spawn('ip', command(program, args, options), {
        env: environment(options),
        stdio: ['ignore', log, log],
        // Ctrl-C is for us, who then end them one after the other.
        detached: true,
      });
      closeSync(log);
      return child;
    },
    run: (program, args, options = {}) =>
      execFileSync('ip', command(program, args, options), { env: environment(options), encoding: 'utf8' }),
    async kill() {
      plug(false);
      await endAll(namespace);
    },
    separate: (others) => route('add', others),
    unite: (others) => route('delete', others),
  };
}

/** Kills every process of a namespace; all of them were started here. */
async function endAll(namespace: string): Promise<void> {
  for (;;) {
    const { stdout } = spawnSync('ip', ['netns', 'pids', namespace], { encoding: 'utf8' });
    const processes = stdout.split('\n').filter(Boolean);
    if (processes.length === 0) return;
    for (const pid of processes) {
      try {
        process.kill(Number(pid), 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
    await sleep(50);
  }
}

/** Waits for the end of a process. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}
