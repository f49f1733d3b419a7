/**
 * `pgreflect templates check`: checks the files of emails as the management API would, without a server. Switches that
 * change what templates mean come from the configuration of the project, where the command finds one.
 */
import { type AuthConfig, layerAuthConfig } from '../../config/auth/auth-config.ts';
import { type AuthFieldName, authField } from '../../config/auth/auth-fields.ts';
import { enabledField } from '../../config/auth/auth-template-fields.ts';
import { notificationNames } from '../../config/auth/email-kinds.ts';
import { loadAuthConfig } from '../../config/auth/load-auth-config.ts';
import { loadOptions } from '../../config/load-options.ts';
import { checkField } from '../../email/lint/check-field.ts';
import { checkSurroundings } from '../../email/lint/check-surroundings.ts';
import { templateField } from '../../email/lint/check-template.ts';
import { findingOnWhole, type TemplateFinding } from '../../email/lint/finding.ts';
import { isBuiltInText } from '../../email/message/choose-texts.ts';
import { noteOnText } from '../../management/change-note.ts';
import { isObject } from '../../shared/json.ts';
import { type CommandContext, CommandError, failCommand, flagText, resolveTypedPath } from '../shared/command.ts';
import {
  layoutField,
  nameOfText,
  partialPrefix,
  placeOfField,
  readTemplates,
  type TextsByField,
} from './templates-files.ts';
import { fieldOfPart, isTranslation, translationValues } from './translation-files.ts';

/** Prints what is wrong, a line each. @returns The exit code: 1 if there are errors, with `--strict` also for warnings. */
export async function checkFiles(context: CommandContext, usual: string): Promise<number> {
  const [, operand] = context.operands;
  const flag = flagText(context, 'dir');
  if (operand !== undefined && flag !== null) failCommand('The directory is given twice.', 'Leave out --dir.');
  const strange: string[] = [];
  const warn = (text: string) => strange.push(`warning: ${text}`);
  const texts = readTemplates(resolveTypedPath(context, operand ?? flag ?? usual), { note: context.note, warn });
  const allowWarnings = context.flags['allow-warnings'] === true;
  const { errors, warnings: found, isPartial } = findingsIn(texts, configOf(context, texts), allowWarnings);
  const warnings = [...found, ...strange];
  for (const line of [...errors, ...warnings]) context.print(line);
  const count = (many: readonly string[], word: string) => `${many.length} ${word}${many.length === 1 ? '' : 's'}`;
  if (isPartial) context.note('The emails are checked once these errors are corrected.');
  context.note(`${texts.size} texts: ${count(errors, 'error')}, ${count(warnings, 'warning')}.`);
  return errors.length > 0 || (context.flags.strict === true && warnings.length > 0) ? 1 : 0;
}

/** The project's configuration with the texts of the files. */
function configOf(context: CommandContext, texts: TextsByField): AuthConfig {
  const { file, problems } = loadOptions([], context.sources);
  if (problems.length > 0) throw new CommandError(problems);
  const fileName = file.path ?? 'pgreflect.toml';
  const { given } = loadAuthConfig({
    ...context.sources,
    flags: context.sources.authFlags,
    file: file.auth,
    isNamed: file.isNamed,
    fileName,
  });
  const partials = [...texts].filter(([field, text]) => field.startsWith(partialPrefix) && text !== '');
  return layerAuthConfig({
    // Without a configuration it is not known which emails are off.
    ...(file.path === null && Object.fromEntries(notificationNames.map((name) => [enabledField(name), true]))),
    ...given,
    // Translations are compared with them.
    ...Object.fromEntries([...texts].filter(([field]) => templateField(field) !== null)),
    ...(texts.has(layoutField) && { mailer_layout_content: texts.get(layoutField) || null }),
    mailer_partials: Object.fromEntries(partials.map(([field, text]) => [field.slice(partialPrefix.length), text])),
  });
}

interface Lines {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  /** The emails are not checked yet. */
  readonly isPartial: boolean;
}

/** @param allowWarnings Whether emails that lead nowhere are warnings. */
function findingsIn(texts: TextsByField, config: AuthConfig, allowWarnings: boolean): Lines {
  const errors: string[] = [];
  const warnings: string[] = [];
  const say = (field: string, kind: string) => (finding: TemplateFinding) =>
    `${placeOfField(field)}${placeText(finding)}: ${kind}: ${nameOf(finding)}`;
  for (const [field, text] of texts) {
    const problem = field.startsWith(partialPrefix)
      ? null
      : limitOf(isTranslation(field) ? fieldOfPart(field) : field, text);
    if (problem !== null) errors.push(say(field, 'error')(findingOnWhole(`it ${problem}`)));
  }
  const problem = limitOf('mailer_partials', config.mailer_partials);
  if (problem !== null) errors.push(`error: mailer_partials ${problem}`);
  // The author waits for these checks alone, so their time together has no limit.
  for (const { field, place, finding } of checkSurroundings(config, () => false)) {
    const note = noteOnText(field, finding, place);
    const name = nameOfText(note) ?? field;
    // A layout of the configuration is in no file.
    errors.push(texts.has(name) ? say(name, 'error')(finding) : `error: ${note.message}`);
  }
  // What a layout does to each email would be told again and again.
  if (errors.length > 0) return { errors, warnings, isPartial: true };
  for (const [field, text] of texts) {
    const held = templateField(field);
    if (held !== null && isBuiltInText(held, text)) continue;
    const [name, value] = isTranslation(field) ? translationOf(field, text) : [field, text];
    for (const { findings } of checkField(name, value, config, () => false)) {
      if (findings.problem !== null) errors.push(say(field, 'error')(findings.problem));
      if (allowWarnings) warnings.push(...findings.deadEnds.map(say(field, 'warning')));
      else errors.push(...findings.deadEnds.map(say(field, 'error')));
      warnings.push(...findings.warnings.map(say(field, 'warning')));
    }
  }
  return { errors, warnings, isPartial: false };
}

/** Why a field would not take a value; null: it would. */
function limitOf(field: string, value: unknown): string | null {
  try {
    authField(field as AuthFieldName).kind.parse(value);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** One text of a language as the value of its field. */
function translationOf(field: string, text: string): readonly [name: string, value: unknown] {
  const [[name, value] = [field, null]] = Object.entries(text === '' ? {} : translationValues([[field, text]], {}));
  return [name, isObject(value) ? value : null];
}

function placeText({ line, column }: TemplateFinding): string {
  return line === null ? '' : `:${line}:${column}`;
}

function nameOf({ message, name }: TemplateFinding): string {
  return name === null ? message : `${message} [${name}]`;
}
