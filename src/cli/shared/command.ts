/**
 * The definition of a `pgreflect` command: its flags, and a function from the arguments to an exit code.
 *
 * Commands print through the context and never end the process: main.ts does. A `CommandError` is a refusal with its
 * fix; any other unknown error counts as our bug.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Problem } from '../../config/config-error.ts';
import type { Sources } from '../../config/load-options.ts';
import type { CommandName } from '../../config/options.ts';

/** A flag of a single command; options of several commands are in config/options.ts. */
interface CommandFlag {
  /** Without the two dashes. */
  readonly flag: string;
  /** Placeholder of the value in `--help`; absent for a switch. */
  readonly placeholder?: string;
  /** The values of several are one list, with commas between them. */
  readonly list?: true;
  /** What to do in place of giving it several times. */
  readonly once?: string;
  readonly doc: string;
}

/** What is known of a command before its code is loaded, which takes longer than most of them run. */
export interface ListedCommand {
  readonly name: CommandName;
  /** One sentence for the list of commands. */
  readonly summary: string;
  /** Names of the operands, as `--help` shows them. */
  readonly operands?: readonly string[];
  load(): Promise<Command>;
}

/** One command of `pgreflect`. */
export interface Command {
  /** Text of `--help` below the options, mostly examples. */
  readonly notes: string;
  readonly flags: readonly CommandFlag[];
  /** @returns The exit code. */
  run(context: CommandContext): Promise<number>;
}

/** The arguments, and where to print. */
export interface CommandContext {
  readonly sources: Sources;
  /** Values of the command's own flags; `true` for a given switch. */
  readonly flags: Readonly<Record<string, string | true | undefined>>;
  readonly operands: readonly string[];
  /** Writes one line (or several) of the result to standard output. */
  print(text: string): void;
  /** Writes to standard error: progress, warnings, anything that is not the result. */
  note(text: string): void;
  /** A command that serves calls it once it has read the schema and said so; for others it was called before. */
  loaded(): void;
}

/** A refusal: a list of problems, each with its fix. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], cause?: unknown) {
    super(problems.map(({ problem }) => problem).join(' '), cause === undefined ? undefined : { cause });
    this.problems = problems;
  }
}

/** Throws a `CommandError` with one problem. */
export function failCommand(problem: string, fix: string | null = null): never {
  throw new CommandError([{ problem, fix }]);
}

/** Value of a flag; null if not given. */
export function flagText(context: CommandContext, flag: string): string | null {
  const value = context.flags[flag];
  return typeof value === 'string' ? value : null;
}

/** The absolute path of a given file or directory. */
export function resolveTypedPath(context: CommandContext, typed: string): string {
  return resolve(context.sources.workingDirectory, typed);
}

/** The text of a file given by a flag or as the operand. @throws CommandError if it cannot be read. */
export function readTypedFile(context: CommandContext, typed: string, flag = '', fix = 'Check the name.'): string {
  try {
    return readFileSync(resolveTypedPath(context, typed), 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    failCommand(`${flag && `${flag}: `}"${typed}" cannot be read (${code}).`, fix);
  }
}
