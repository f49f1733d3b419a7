/** Processes of the machine: who has started whom, and who is still there. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, vi } from 'vitest';

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** Zombies have ended: nobody has asked yet how. */
function listProcesses(): readonly Process[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' }).split('\n');
  return lines.flatMap((line) => {
    const [, pid, parent, command = ''] = /^\s*(\d+)\s+(\d+)\s+[^Z\s]\S*\s+(.*)$/.exec(line) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), command }];
  });
}

/** A process and all that it and they have started, the oldest first. */
export function familyOf(pid: number): readonly Process[] {
  const all = listProcesses();
  const found = all.filter((one) => one.pid === pid);
  for (const { pid: parent } of found) found.push(...all.filter((one) => one.parent === parent));
  return found;
}

/** Waits until each of the processes has ended. */
export async function untilGone(family: readonly Process[]): Promise<void> {
  const alive = () => {
    const now = new Set(listProcesses().map(({ pid, command }) => `${pid} ${command}`));
    return family.filter(({ pid, command }) => now.has(`${pid} ${command}`));
  };
  await vi.waitFor(() => expect(alive()).toEqual([]), { timeout: 30_000, interval: 100 });
}

/** A command that serves. */
interface Started {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Its exit code and signal. */
  readonly ended: Promise<unknown>;
  /** Of the GraphQL API. */
  readonly url: string;
  /** The gateway's process. */
  gateway(): number;
}

/** Runs a command in a process group of its own, as a terminal does, until the gateway serves. */
export async function startFamily(
  [program = '', ...args]: readonly string[],
  { directory, environment }: { readonly directory: string; readonly environment: Readonly<Record<string, string>> },
): Promise<Started> {
  const { HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  const env = { HOME, NODE_COMPILE_CACHE, ...environment };
  const child = spawn(program, args, { cwd: directory, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  const pid = child.pid!;
  let family: readonly Process[] = [];
  onTestFinished(async () => {
    for (const { pid: one } of familyOf(pid).toReversed()) process.kill(one, 'SIGKILL');
    await ended;
    await untilGone(family);
  });
  let text = '';
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (part: string) => {
        text += part;
        const [, found] = /GraphQL(?: and GraphiQL:)? +(http:\S+)/.exec(text) ?? [];
        // What is printed last.
        if (found !== undefined && /curl|reads 0 tables/.test(text)) resolve(found);
      });
    }
    void ended.then(() => reject(new Error(text)));
  });
  family = familyOf(pid);
  return { child, pid, ended, url, gateway: () => gatewayOf(familyOf(pid)) };
}

/** The process of a family that serves: the one with the program as its argument that was started last. */
function gatewayOf(family: readonly Process[]): number {
  const found = family.findLast(({ command }) =>
    /\bnode(\.exe)? .*(pgreflect|main)(\.[jt]s)? (serve|start)\b/.test(command),
  );
  expect(found, JSON.stringify(family)).toBeDefined();
  return found!.pid;
}
