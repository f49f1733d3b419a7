/** Prints what a run of `init` was refused, with the lines that another login can run: they carry the options of this run. */
import { flagName, type OptionName, optionOf } from '../../config/options.ts';
import { onOneLine, pasteable } from '../../shared/one-line.ts';
import { quoteForShell } from '../../shared/quote-for-shell.ts';
import type { CommandContext } from '../shared/command.ts';
import type { StepOutcome } from './role-setup.ts';

/** Parts of `init` that need a certain login. */
type Part = 'auth' | 'live' | 'supabase' | 'watch';

const superuser = 'CONNECTION_OF_A_SUPERUSER';
const needs: Readonly<Record<Part, readonly [login: string, remark: string]>> = {
  auth: ['CONNECTION_OF_THE_OWNER_OF_SCHEMA_AUTH', ''],
  live: [superuser, '   (without it, live queries run at --live-interval-ms)'],
  supabase: [superuser, ''],
  watch: [superuser, '   (without the trigger, the gateway polls every second)'],
};

const partOf: Readonly<Record<string, Part>> = {
  'sql/auth': 'auth',
  'sql/live.sql': 'live',
  'sql/unlive.sql': 'live',
  'sql/supabase': 'supabase',
};

/** Options whose value decides what `init` makes. Another login has neither the environment nor the file of this run. */
const repeated = [
  'schemas', 'anonRole', 'authenticatedRole', 'serviceRole', 'loginRole', 'authRole', 'adoptRole',
] as const satisfies readonly OptionName[]; // biome-ignore format: a table of names

/** Values of the options, as loaded. */
type RepeatedValues = Readonly<Record<(typeof repeated)[number], string | readonly string[] | null>>;

/** The line of `init` for whoever may make this part. */
export function lineFor(part: Part, values: RepeatedValues): string {
  const options = repeated.flatMap((name) => {
    const value = values[name];
    const text = typeof value === 'string' ? value : (value?.join(',') ?? null);
    return text === null || text === optionOf(name).default ? [] : [`--${flagName(name)} ${quoteForShell(text)}`];
  });
  const [login, remark] = needs[part];
  return `${['pgreflect init', `--${part}`, ...options, '--database-url', login].join(' ')}${remark}`;
}

/** Prints the refused steps and general advice. @returns The number of refused steps. */
export function printRefused(
  outcomes: readonly StepOutcome[],
  values: RepeatedValues,
  context: CommandContext,
): number {
  const refused = outcomes.filter(({ result }) => result === 'refused');
  for (const { advice } of outcomes) if (advice !== null) context.print(`\n${onOneLine(advice)}`);
  if (refused.length > 0)
    context.print('\nThese were refused. If this login role lacks a right, ask the owner or a superuser to run them:');
  for (const { topic, statement, reason } of refused) {
    context.print(`  ${onOneLine(`${topic}: ${reason}.`)}`);
    context.print(`    ${adviceOf(statement ?? '', values)}`);
  }
  return refused.length;
}

function adviceOf(statement: string, values: RepeatedValues): string {
  if (statement.startsWith('sql/')) return onOneLine(lineFor(partOf[statement] ?? 'watch', values));
  return `${pasteable(statement) ?? onOneLine(statement)};`;
}
