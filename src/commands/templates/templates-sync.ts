/**
 * `pgreflect templates pull|push|diff`: moves the texts of emails between files and a running project.
 *
 * A push sends only what differs, so texts that nobody touched stay the built-in ones, and what the project changed since the pull
 * stays as it is (pulled-texts.ts). The API checks the whole push before anything of it is stored.
 */
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { loadOptionsOrThrow } from '../../config/load-options.ts';
import { defaultTemplates } from '../../email/default-templates.ts';
import { templateField, templateFieldNames } from '../../management/templates/check-template.ts';
import { type CommandContext, CommandError, flagText, pathOf } from '../command.ts';
import { createManagementClient, type ManagementClient, type ReadConfig } from '../management-client.ts';
import { readPulled, writePulled } from './pulled-texts.ts';
import { fileOfField, placeOfField, readTemplates, type TemplateTexts, writeTemplates } from './templates-files.ts';

/** Directory of the files where `--dir` names none. */
export const defaultTemplateDirectory = 'templates';

/** Writes the texts in force into files. @returns The exit code. */
export async function pullTemplates(context: CommandContext): Promise<number> {
  const { client, directory } = open(context);
  const inForce = textsOf((await client.readConfig()).config);
  const written = writeTemplates(directory, inForce);
  writePulled(directory, client.ref, inForce);
  context.print(`Wrote ${written.length} files into ${directory}.`);
  return 0;
}

/** Stores the texts that were edited in files. @returns The exit code. */
export async function pushTemplates(context: CommandContext): Promise<number> {
  const { client, directory } = open(context);
  const files = readTemplates(directory);
  const read = await client.readConfig();
  const pulled = readPulled(directory, client.ref);
  const differing = differences(files, textsOf(read.config));
  const kept = differing.filter(({ field, file }) => meaning(field, file) === pulled.get(field));
  const changes = differing.filter((change) => !kept.includes(change));
  await refuseConflicts(client, changes, pulled);
  for (const { field } of kept)
    context.note(
      `${placeOfField(field)}: the project's text is newer than the file and stays. To get it: templates pull`,
    );
  if (changes.length === 0) context.print('Nothing differs.');
  else if (context.flags['dry-run']) {
    for (const { field } of changes) context.print(`would change  ${placeOfField(field)}`);
    return 0;
  } else await storeChanges(context, { client, read, changes });
  if (pulled.size > 0) {
    const common = [...files].map(([field, file]) => [field, meaning(field, file)] as const);
    writePulled(directory, client.ref, new Map([...pulled, ...common]));
  }
  return 0;
}

interface Push {
  readonly client: ManagementClient;
  readonly read: ReadConfig;
  readonly changes: readonly Difference[];
}

async function storeChanges(context: CommandContext, { client, read, changes }: Push): Promise<void> {
  const values = Object.fromEntries(changes.map(({ field, file }) => [field, file]));
  const warnings = await client.changeConfig(read, values, context.flags['allow-warnings'] === true);
  for (const { field, file } of changes)
    context.print(`changed  ${placeOfField(field)}${file === '' ? ' (empty: the built-in text)' : ''}`);
  for (const warning of warnings) context.note(`Warning: ${warning}`);
}

/** @throws CommandError where the project's text is neither the one that was pulled nor the file's. */
async function refuseConflicts(
  client: ManagementClient,
  changes: readonly Difference[],
  pulled: TemplateTexts,
): Promise<void> {
  const conflicts = changes.filter(({ field, inForce }) => (pulled.get(field) ?? inForce) !== inForce);
  if (conflicts.length === 0) return;
  // Who it was is worth a look, and no reason to fail otherwise.
  const versions = await client.listVersions().catch(() => []);
  const problems = conflicts.map(({ field }) => {
    const last = versions.find(({ changed }) => changed.includes(field));
    const by = last === undefined ? '' : ` (version ${last.version}, ${last.updatedAt}, by ${last.updatedBy})`;
    const place = placeOfField(field);
    return {
      problem: `${place}: both the file and the project's text have changed since the last pull${by}.`,
      fix: `To see both: templates diff. Then move ${fileOfField(field)} away, pull, edit the new file, and push.`,
    };
  });
  throw new CommandError([...problems, { problem: 'Nothing was pushed.', fix: null }]);
}

/** Prints in what files and project differ. @returns The exit code: 1 where something differs, for CI. */
export async function diffTemplates(context: CommandContext): Promise<number> {
  const { client, directory } = open(context);
  const changes = differences(readTemplates(directory), textsOf((await client.readConfig()).config));
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
