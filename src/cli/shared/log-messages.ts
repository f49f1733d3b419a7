/**
 * What a command that serves says beside its log: as text, or where the log is explicitly JSON, as lines of it. A collector
 * that reads both outputs then finds nothing else.
 */
import { ConfigError } from '../../config/config-error.ts';
import { loadOptions } from '../../config/load-options.ts';
import { createLogger } from '../../shared/logger.ts';
import type { Observe } from '../../shared/observation.ts';
import { type CommandContext, CommandError } from './command.ts';
import { describeError } from './describe-error.ts';

/** Runs it. @returns Its exit code; 1 where it has failed and the log says why. @throws Its errors, where messages are text. */
export async function withLogMessages(
  context: CommandContext,
  run: (context: CommandContext) => Promise<number>,
  worker?: number,
): Promise<number> {
  const { logFormat, logLevel } = loadOptions(['logFormat', 'logLevel'], context.sources).values;
  if (logFormat !== 'json') return run(context);
  // Why it does not start is said in any case.
  const level = logLevel === 'silent' ? 'error' : (logLevel ?? 'info');
  const { observe } = await createLogger({ level, format: 'json', slowMs: 0, worker });
  const say = (text: string) => observe(messageOf(text));
  try {
    return await run({ ...context, print: say, note: say });
  } catch (error) {
    reportError(error, observe);
    return 1;
  }
}

function messageOf(text: string): Parameters<Observe>[0] {
  const [, word, rest] = /^(Warning|Error):\s+([\s\S]+)$/.exec(text) ?? [];
  const level = word === undefined ? 'info' : word === 'Error' ? 'error' : 'warn';
  return { kind: 'message', level, message: (rest ?? text).trim() };
}

function reportError(error: unknown, observe: Observe): void {
  const isListed = error instanceof ConfigError || error instanceof CommandError;
  const problems = isListed ? error.problems : [{ problem: describeError(error), fix: null }];
  for (const { problem, fix } of problems) observe({ kind: 'message', level: 'error', message: problem, hint: fix });
}
