/**
 * What is wrong with the configuration: all of it at once, each problem with what to do.
 */

/** One thing that stands between a command and its start. */
export interface Problem {
  /** What is wrong, as one sentence. Holds no secret. */
  readonly problem: string;
  /** A command or an instruction that mends it; null where the sentence says it all. */
  readonly fix: string | null;
}

/** Every problem found; the message lists them, one per paragraph. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(printProblem).join('\n'));
    this.problems = problems;
  }
}

/** `- sentence`, and under it what to do, indented. */
export function printProblem({ problem, fix }: Problem): string {
  return fix === null ? `- ${problem}` : `- ${problem}\n${fix.replace(/^/gm, '    ')}`;
}
