/**
 * Asks the measured servers how long garbage collection has stopped them (pauses.js is the other end).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** Pauses since somebody asked last; of several processes together. */
export interface Pauses {
  readonly count: number;
  readonly totalMs: number;
  readonly longestMs: number;
}

let directory: string | null = null;

/** What a server's environment needs to have, so that it can be asked. */
export function pausesEnvironment(): Record<string, string> {
  if (directory === null) {
    const made = mkdtempSync(join(tmpdir(), 'pgreflect-pauses-'));
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
    directory = made;
  }
  const observer = new URL('pauses.js', import.meta.url).href;
  return { BENCH_PAUSES: directory, NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${observer}`.trim() };
}

/** Longest time that the event loop of a process was held since somebody asked last, in ms of CPU; only with BENCH_HOLDS. */
export async function takeHold(pid: number): Promise<number> {
  const { holdMs } = JSON.parse(await text(connect(join(directory ?? '', `${pid}.sock`)))) as { holdMs: number };
  return holdMs;
}

/** Asks processes that were started with that environment, and lets them begin from nothing. Rejects when one cannot be asked. */
export async function takePauses(pids: readonly number[]): Promise<Pauses> {
  const each = await Promise.all(
    pids.map(async (pid) => JSON.parse(await text(connect(join(directory ?? '', `${pid}.sock`)))) as Pauses),
  );
  return {
    count: each.reduce((sum, { count }) => sum + count, 0),
    totalMs: each.reduce((sum, { totalMs }) => sum + totalMs, 0),
    longestMs: Math.max(...each.map(({ longestMs }) => longestMs)),
  };
}
