/**
 * `pgreflect templates pull|push|diff`: moves the texts of emails between files and a running project.
 *
 * A push sends only what differs, so texts that nobody touched stay the built-in ones. The API checks the whole push before
 * anything of it is stored.
 */
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { loadOptionsOrThrow } from '../../config/load-options.ts';
import { defaultTemplates } from '../../email/default-templates.ts';
import { templateField, templateFieldNames } from '../../management/templates/check-template.ts';
import { type CommandContext, flagText, pathOf } from '../command.ts';
import { createManagementClient, type ManagementClient } from '../management-client.ts';
import { placeOfField, readTemplates, type TemplateTexts, writeTemplates } from './templates-files.ts';

/** Directory of the files where `--dir` names none. */
export const defaultTemplateDirectory = 'templates';

/** Writes the texts in force into files. @returns The exit code. */
export async function pullTemplates(context: CommandContext): Promise<number> {
  const { client, directory } = open(context);
  const written = writeTemplates(directory, textsOf(await client.readConfig()));
  context.print(`Wrote ${written.length} files into ${directory}.`);
  return 0;
}

/** Stores the texts of files that differ from those in force. @returns The exit code. */
export async function pushTemplates(context: CommandContext): Promise<number> {
  const { client, directory } = open(context);
  const changes = differences(readTemplates(directory), textsOf(await client.readConfig()));
  if (changes.length === 0) {
    context.print('Nothing differs.');
    return 0;
  }
  if (context.flags['dry-run']) {
    for (const { field } of changes) context.print(`would change  ${placeOfField(field)}`);
    return 0;
  }
  const values = Object.fromEntries(changes.map(({ field, file }) => [field, file]));
  const warnings = await client.changeConfig(values, context.flags['allow-warnings'] === true);
  for (const { field, file } of changes)
    context.print(`changed  ${placeOfField(field)}${file === '' ? ' (empty: the built-in text)' : ''}`);
  for (const warning of warnings) context.note(`Warning: ${warning}`);
  return 0;
}

/** Prints what a push would change. @returns The exit code: 1 where something differs, for CI. */
export async function diffTemplates(context: CommandContext): Promise<number> {
  const { client, directory } = open(context);
  const changes = differences(readTemplates(directory), textsOf(await client.readConfig()));
  for (const { field, file, inForce } of changes) {
    const options = { context: 3, headerOptions: FILE_HEADERS_ONLY };
    const names = [`in force: ${placeOfField(field)}`, directory] as const;
    context.print(
      createTwoFilesPatch(...names, inForce, meaning(field, file), undefined, undefined, options).slice(0, -1),
    );
  }
  if (changes.length === 0) context.print('Nothing differs.');
  return changes.length === 0 ? 0 : 1;
}

function open(context: CommandContext): { readonly client: ManagementClient; readonly directory: string } {
  const loaded = loadOptionsOrThrow(['externalUrl', 'projectRef', 'accessToken'] as const, context.sources);
  const directory = pathOf(context, flagText(context, 'dir') ?? defaultTemplateDirectory);
  return { client: createManagementClient(loaded, context.sources.workingDirectory), directory };
}

function textsOf(config: Readonly<Record<string, unknown>>): TemplateTexts {
  return new Map(templateFieldNames.map((name) => [name, typeof config[name] === 'string' ? config[name] : '']));
}

interface Difference {
  readonly field: string;
  readonly file: string;
  readonly inForce: string;
}

function differences(files: TemplateTexts, inForce: TemplateTexts): readonly Difference[] {
  return [...files].flatMap(([field, file]) => {
    const known = inForce.get(field) ?? '';
    return meaning(field, file) === known ? [] : [{ field, file, inForce: known }];
  });
}

/** An empty text stands for the built-in one. */
function meaning(field: string, text: string): string {
  const held = templateField(field);
  return text === '' && held !== null ? defaultTemplates[held.email][held.part] : text;
}
