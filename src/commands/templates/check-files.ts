/**
 * `pgreflect templates check`: checks the files of emails as the management API would, without a server.
 */
import { layerAuthConfig } from '../../config/auth/auth-config.ts';
import { checkField } from '../../management/templates/check-field.ts';
import { checkSurroundings } from '../../management/templates/check-surroundings.ts';
import { templateField } from '../../management/templates/check-template.ts';
import type { Finding } from '../../management/templates/finding.ts';
import { isObject } from '../../shared/json.ts';
import { type CommandContext, flagText, pathOf, refuse } from '../shared/command.ts';
import { layoutField, partialPrefix, placeOfField, readTemplates, type TemplateTexts } from './templates-files.ts';
import { isTranslation, translationValues } from './translation-files.ts';

/** Prints what is wrong, a line each. @returns The exit code: 1 if there are errors, with `--strict` also for warnings. */
export async function checkFiles(context: CommandContext, usual: string): Promise<number> {
  const [, operand] = context.operands;
  const flag = flagText(context, 'dir');
  if (operand !== undefined && flag !== null) refuse('The directory is given twice.', 'Leave out --dir.');
  const texts = readTemplates(pathOf(context, operand ?? flag ?? usual));
  const { errors, warnings } = findingsIn(texts);
  for (const line of [...errors, ...warnings]) context.print(line);
  const count = (many: readonly string[], word: string) => `${many.length} ${word}${many.length === 1 ? '' : 's'}`;
  context.note(`${texts.size} texts: ${count(errors, 'error')}, ${count(warnings, 'warning')}.`);
  return errors.length > 0 || (context.flags.strict === true && warnings.length > 0) ? 1 : 0;
}

interface Lines {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

function findingsIn(texts: TemplateTexts): Lines {
  const layout = texts.get(layoutField) || null;
  const partials = [...texts].filter(([field, text]) => field.startsWith(partialPrefix) && text !== '');
  const config = layerAuthConfig({
    // Translations are compared with them.
    ...Object.fromEntries([...texts].filter(([field]) => templateField(field) !== null)),
    mailer_layout_content: layout,
    mailer_partials: Object.fromEntries(partials.map(([field, text]) => [field.slice(partialPrefix.length), text])),
  });
  // The author waits for these checks alone, so their time together has no limit.
  const errors = checkSurroundings(config, () => false).map((problem) => `error: ${problem}`);
  const warnings: string[] = [];
  // What a layout does to each email would be told again and again.
  if (errors.length > 0) return { errors, warnings };
  for (const [field, text] of texts) {
    const [name, value] = isTranslation(field) ? translationOf(field, text) : [field, text];
    for (const { findings } of checkField(name, value, config, () => false)) {
      const say = (kind: string) => (finding: Finding) =>
        `${placeOfField(field)}${placeOf(finding)}: ${kind}: ${nameOf(finding)}`;
      if (findings.problem !== null) errors.push(say('error')(findings.problem));
      errors.push(...findings.emptyLinks.map(say('error')));
      warnings.push(...findings.warnings.map(say('warning')));
    }
  }
  return { errors, warnings };
}

/** One text of a language as the value of its field. */
function translationOf(field: string, text: string): readonly [name: string, value: unknown] {
  const [[name, value] = [field, null]] = Object.entries(text === '' ? {} : translationValues([[field, text]], {}));
  return [name, isObject(value) ? value : null];
}

function placeOf({ line, column }: Finding): string {
  return line === null ? '' : `:${line}:${column}`;
}

function nameOf({ message, name }: Finding): string {
  return name === null ? message : `${message} [${name}]`;
}
