/**
 * Runs a program that starts servers: all end with it, also after Ctrl-C, when its terminal closes, and after a failure.
 */
import type { WhenOver } from './when-over.ts';

/** @param run Its argument registers what ends with it, in reverse order. Resolves to whether everything held: the exit code. */
export async function runAlone(run: (whenOver: WhenOver) => Promise<boolean>): Promise<never> {
  const ends: (() => Promise<void>)[] = [];
  let ending: Promise<void> | null = null;
  const endAll = async () => {
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end().catch(complain);
  };
  const exit = (code: number) => {
    ending ??= endAll();
    return ending.then(() => process.exit(code));
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void exit(130));
  process.on('uncaughtException', (error) => {
    complain(error);
    void exit(1);
  });
  const isRight = await run((end) => void ends.push(end)).catch((error: unknown) => {
    complain(error);
    return false;
  });
  return exit(isRight ? 0 : 1);
}

function complain(error: unknown): void {
  // Nobody may be left who reads it.
  if (process.stdout.writable) console.log(error);
}
