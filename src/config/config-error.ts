/** Problems of the configuration: all at once, each with a fix. */

/** One problem that prevents a command from starting. */
export interface Problem {
  /** The problem, as one sentence. Contains no secret. */
  readonly problem: string;
  /** A command or instruction that fixes it; null if the sentence says it all. */
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

/** `- sentence`, followed by the indented fix. */
export function printProblem({ problem, fix }: Problem): string {
  return fix === null ? `- ${problem}` : `- ${problem}\n${fix.replace(/^/gm, '    ')}`;
}
