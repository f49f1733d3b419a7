/**
 * The command line: builds commander's program from the commands and the option table, with help for each. Only the code of the
 * command that runs is loaded.
 *
 * Collects unknown flags instead of letting commander refuse them, so that the user sees all problems of the
 * configuration in one list.
 */
import { camelCase } from 'change-case';
import { Option, Command as Program } from 'commander';
import { type AuthFieldName, authField, authFieldNames } from '../config/auth/auth-fields.ts';
import { type AuthReferenceEntry, authFlagName, authReference } from '../config/auth/auth-reference.ts';
import type { Problem } from '../config/config-error.ts';
import type { Sources } from '../config/load-options.ts';
import { nearestName } from '../config/nearest-name.ts';
import {
  type CommandName,
  environmentName,
  flagName,
  type OptionName,
  optionNames,
  optionOf,
  serving,
} from '../config/options.ts';
import { isList } from '../config/value-kinds.ts';
import { supportedRange } from '../postgres/supported.ts';
import type { Command, CommandContext, ListedCommand } from './shared/command.ts';

/** Characters of a line of the help. */
const helpWidth = 120;

/** The program's interface to the process. */
export interface Edge {
  readonly environment: Sources['environment'];
  readonly workingDirectory: string;
  readonly version: string;
  print(text: string): void;
  note(text: string): void;
  /** Called when the code of the command is loaded, and if it serves, all that it needs before the first request. */
  loaded(): void;
  /** Called with the exit code of the command. */
  finished(exitCode: number): void;
}

/** The program; `parseAsync(argv)` runs a command. Throws `CommanderError` for usage errors, help and version. */
export function buildProgram(commands: readonly ListedCommand[], edge: Edge): Program {
  const program = new Program('pgreflect')
    .description(`A GraphQL API reflected from any PostgreSQL ${supportedRange}, without an extension.`)
    .version(edge.version, '--version', 'Print the version.')
    .helpOption('--help', 'Print this help.')
    .helpCommand(false)
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({ writeOut: (text) => edge.print(text.trimEnd()), writeErr: (text) => edge.note(text.trimEnd()) })
    .configureHelp({ helpWidth, subcommandTerm: (sub) => `${sub.name()} ${sub.usage()}` });
  for (const command of commands) addCommand(program, command);
  return program.hook('preSubcommand', async (_, sub) => {
    const listed = commands.find(({ name }) => name === sub.name());
    if (listed !== undefined) defineCommand(sub, { ...listed, ...(await listed.load()) }, edge);
    if (listed === undefined || !takesAuthFlags(listed)) edge.loaded();
  });
}

function addCommand(program: Program, { name, summary, operands = [] }: ListedCommand): void {
  const sub = program
    .command(name)
    .summary(summary)
    .description(summary)
    .helpOption('--help', 'Print this help.')
    .allowUnknownOption()
    .allowExcessArguments();
  for (const operand of operands) sub.argument(`[${operand}]`);
}

type LoadedCommand = ListedCommand & Command;

/** Adds what only the code of a command knows. */
function defineCommand(sub: Program, command: LoadedCommand, edge: Edge): void {
  const names = optionNames.filter((name) => optionOf(name).commands.includes(command.name));
  for (const flag of command.flags) {
    const value = flag.placeholder === undefined ? '' : ` <${flag.placeholder}>`;
    const option = new Option(`--${flag.flag}${value}`, flag.doc).helpGroup('Of this command:');
    sub.addOption(flag.placeholder === undefined ? option : option.argParser(collect));
  }
  const config = new Option(
    '--config <FILE>',
    'Configuration file (default: pgreflect.toml, if it exists; environment: PGREFLECT_CONFIG)',
  );
  sub.addOption(config.helpGroup('Of this command:').argParser(collect));
  for (const name of names) for (const option of toCommanderOptions(name, command.name)) sub.addOption(option);
  if (takesAuthFlags(command)) {
    for (const name of authFieldNames) for (const option of toAuthOptions(name)) sub.addOption(option);
    sub.addHelpText('after', `\n${printAuthFlags(helpWidth)}`);
  }
  sub.addHelpText('after', `\n${command.notes}\n`);
  sub.action(async () => {
    edge.finished(await command.run(toContext(sub, command, names, edge)));
  });
}

/** Only commands that run the service take auth configuration flags. */
function takesAuthFlags({ name }: ListedCommand): boolean {
  return serving.some((taker) => taker === name);
}

/** The option, and for a switch its negation, which the help leaves out. */
function toCommanderOptions(name: OptionName, command: CommandName): readonly Option[] {
  const known = optionOf(name);
  const value = known.placeholder === null ? '[true|false]' : `<${known.placeholder}>`;
  const option = new Option(`--${flagName(name)} ${value}`, `${known.docs?.[command] ?? known.doc} ${facts(name)}`);
  return withNegation(option.helpGroup(`${known.group}:`), known.placeholder === null);
}

/** As for options; the help has a separate list for them that merges similar ones. */
function toAuthOptions(name: AuthFieldName): readonly Option[] {
  const flag = authFlagName(name);
  const isSwitch = authField(name).kind.json.type === 'boolean';
  return withNegation(new Option(`--${flag} ${isSwitch ? '[true|false]' : '<VALUE>'}`).hideHelp(), isSwitch);
}

function withNegation(option: Option, isSwitch: boolean): readonly Option[] {
  option.argParser(collect);
  return isSwitch ? [option, new Option(`--no-${option.name()}`).hideHelp()] : [option];
}

function collect(text: string, previous: unknown): string[] {
  return [...(Array.isArray(previous) ? (previous as string[]) : []), text];
}

function facts(name: OptionName): string {
  const known = optionOf(name);
  const fallback = known.default ?? known.defaultNote;
  const variables = [
    environmentName(name),
    ...(known.secret ? [`${environmentName(name)}_FILE`] : []),
    ...(known.ecosystem ?? []),
  ];
  const parts = [
    ...(fallback === undefined ? [] : [`default: ${fallback}`]),
    `environment: ${variables.join(', ')}`,
    ...(known.repeatable || isList(known.kind) ? ['may be given several times'] : []),
  ];
  return `(${parts.join('; ')})`;
}

/** The texts of the given flags, by the name that each flag stands for. */
function readFlags<N extends string>(
  sub: Program,
  names: readonly N[],
  toFlag: (name: N) => string,
): ReadonlyMap<N, readonly string[]> {
  const given = sub.opts<Record<string, unknown>>();
  const flags = new Map<N, readonly string[]>();
  for (const name of names) {
    const key = camelCase(toFlag(name));
    const value = given[key];
    if (Array.isArray(value)) flags.set(name, value as string[]);
    else if (typeof value === 'boolean' && (value || sub.getOptionValueSource(key) === 'cli'))
      flags.set(name, [String(value)]);
  }
  return flags;
}

function toContext(sub: Program, command: LoadedCommand, names: readonly OptionName[], edge: Edge): CommandContext {
  const given = sub.opts<Record<string, unknown>>();
  const authNames = takesAuthFlags(command) ? authFieldNames : [];
  // A flag that begins with `no-` is given as false under the rest of its name.
  const own = command.flags.map(({ flag, list }) => {
    const positive = flag.replace(/^no-/, '');
    const value = given[camelCase(positive)];
    if (Array.isArray(value)) return [flag, list === true ? value.join(',') : value[0]] as const;
    return [flag, positive === flag ? value : value === false || undefined] as const;
  });
  return {
    flags: Object.fromEntries(own) as CommandContext['flags'],
    operands: sub.args.filter((text) => !text.startsWith('-')),
    sources: {
      flags: readFlags(sub, names, flagName),
      authFlags: readFlags(sub, authNames, authFlagName),
      configFile: Array.isArray(given.config) ? String(given.config[0]) : null,
      environment: edge.environment,
      workingDirectory: edge.workingDirectory,
      problems: [...findUnknown(sub, command, names), ...findRepeated(given, command)],
    },
    print: edge.print,
    note: edge.note,
    loaded: edge.loaded,
  };
}

function findUnknown(sub: Program, command: LoadedCommand, names: readonly OptionName[]): readonly Problem[] {
  const authFlags = takesAuthFlags(command) ? authFieldNames.map(authFlagName) : [];
  const known = [...names.map(flagName), ...authFlags, ...command.flags.map(({ flag }) => flag), 'config', 'help'];
  const unknown = sub.args.filter((text) => text.startsWith('-') && text !== '-');
  if (unknown.length > 0) return unknown.map((text) => unknownFlag(text, command, known));
  const { operands = [] } = command;
  if (sub.args.length <= operands.length) return [];
  const problem = `pgreflect ${command.name} takes ${operands.join(' and ') || 'no operand'}, but got ${sub.args.length}.`;
  return [{ problem, fix: `pgreflect ${command.name} --help` }];
}

/** Flags of the command alone, of which one counts. Those of options are counted with their other sources. */
function findRepeated(given: Readonly<Record<string, unknown>>, { flags }: LoadedCommand): readonly Problem[] {
  const single: LoadedCommand['flags'] = [...flags.filter(({ list }) => list !== true), { flag: 'config', doc: '' }];
  return single.flatMap(({ flag, once = 'Keep one of them.' }) => {
    const value = given[camelCase(flag)];
    if (!Array.isArray(value) || value.length === 1) return [];
    return [{ problem: `--${flag} is given ${value.length} times.`, fix: once }];
  });
}

function unknownFlag(text: string, command: ListedCommand, known: readonly string[]): Problem {
  // The text after `=` may be a secret.
  const flag = text.replace(/=.*$/s, '');
  const name = flag.replace(/^-+/, '');
  const elsewhere = optionNames.find((option) => flagName(option) === name);
  const isAuth = authFieldNames.some((field) => authFlagName(field) === name);
  const takers = elsewhere === undefined ? (isAuth ? serving : null) : optionOf(elsewhere).commands;
  if (takers !== null) {
    const problem = `pgreflect ${command.name} has no option ${flag}; it belongs to: ${takers.join(', ')}.`;
    return { problem, fix: null };
  }
  const nearest = nearestName(name, known);
  const fix = nearest === null ? `pgreflect ${command.name} --help` : `Did you mean --${nearest}?`;
  return { problem: `pgreflect ${command.name} has no option ${flag}.`, fix };
}

/** The text, without a final line break. @param width Characters per line. */
function printAuthFlags(width: number): string {
  const sections = [...authReference()].map(([heading, rows]) =>
    [`${heading}:`, ...printWords(rows, width), ...rows.map((row) => printRow(row, width))].join('\n'),
  );
  return sections.join('\n\n');
}

/** Explains the words in capitals once. */
function printWords(rows: readonly AuthReferenceEntry[], width: number): readonly string[] {
  const words = new Map(
    rows.flatMap(({ word }) => (word === null ? [] : [[word.placeholder, word.standsFor] as const])),
  );
  return [...words].flatMap(([placeholder, standsFor]) =>
    wrap(`${placeholder} is one of ${standsFor.join(', ')}.`, width, '  '),
  );
}

function printRow(
  { flag, placeholder, doc, default: fallback, environment }: AuthReferenceEntry,
  width: number,
): string {
  const value = placeholder === null ? '[true|false]' : `<${placeholder}>`;
  const facts = [...(fallback === null ? [] : [`default: ${fallback}`]), `environment: ${environment.join(', ')}`];
  return [`  ${flag} ${value}`, ...wrap(`${doc} (${facts.join('; ')})`, width, '        ')].join('\n');
}

function wrap(text: string, width: number, indent: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length >= width) lines.push(indent + word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
