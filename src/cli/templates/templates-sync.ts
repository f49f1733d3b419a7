/**
 * `pgreflect templates pull|push|diff`: transfers email texts between files and a running project.
 *
 * A push sends only differences: untouched texts stay the built-in ones, and the project's changes since the pull stay.
 * The API checks the whole push before it stores anything.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { authField } from '../../config/auth/auth-fields.ts';
import { linkPageField } from '../../config/auth/auth-template-fields.ts';
import { loadOptionsOrThrow } from '../../config/load-options.ts';
import { builtInLinkPage } from '../../email/link-page/link-page-texts.ts';
import { templateField, templateFieldNames } from '../../email/lint/check-template.ts';
import { builtInText, isBuiltInText } from '../../email/message/choose-texts.ts';
import { isObject } from '../../shared/json.ts';
import { type CommandContext, CommandError, failCommand, flagText, resolveTypedPath } from '../shared/command.ts';
import { lostTranslations } from './built-in-translations.ts';
import { createManagementClient, type ManagementClient, type ReadConfig } from './management-client.ts';
import {
  type FileReport,
  inFiles,
  layoutField,
  partialPrefix,
  placeOfField,
  readTemplates,
  readTexts,
  type TextsByField,
  writeTemplates,
} from './templates-files.ts';
import { isTranslation, translationsOf, translationValues } from './translation-files.ts';

/** Default directory without `--dir`. */
export const defaultTemplateDirectory = 'templates';

/** Writes the current texts into files, except over edited ones. @returns The exit code. */
export async function pullTemplates(context: CommandContext): Promise<number> {
  const { client, directory, report } = open(context);
  const { config } = await client.readConfig();
  const inForce = textsOf(config);
  const pulled = readPulled(directory, client.ref);
  const files: TextsByField = existsSync(directory) ? readTexts(directory, report) : new Map();
  const { edited } = differences(files, config, pulled);
  const conflicts = edited.filter((edit) => (pulled.get(edit.field) ?? '') !== edit.inForce);
  if (conflicts.length > 0) await refuseConflicts(client, conflicts, { pulled, end: 'Nothing was written.' });
  // What the project no longer has becomes an empty file.
  const gone = [...files.keys()].filter((field) => !inForce.has(field)).map((field) => [field, ''] as const);
  const texts = new Map([...inForce, ...gone]);
  for (const { field, file } of edited) {
    // All subjects share one file.
    if (templateField(field)?.part === 'subject') texts.set(field, file);
    else texts.delete(field);
  }
  const lost = context.flags.translations === true ? lostTranslations(config, files, inForce) : new Map();
  const written = writeTemplates(directory, new Map([...texts, ...lost]));
  writePulled(directory, client.ref, inForce);
  context.print(`Wrote ${written.length} files into ${directory}.`);
  for (const { field } of edited)
    context.print(
      `kept  ${placeOfField(field)}, which was edited since the last pull. To drop the edit: remove it and pull.`,
    );
  return 0;
}

/** Stores the texts edited in files. @returns The exit code. */
export async function pushTemplates(context: CommandContext): Promise<number> {
  const { client, directory, report } = open(context);
  const files = readTemplates(directory, report);
  const read = await client.readConfig();
  const pulled = readPulled(directory, client.ref);
  const { edited: changes, outdated } = differences(files, read.config, pulled);
  const conflicts = changes.filter(({ field, inForce }) => (pulled.get(field) ?? inForce) !== inForce);
  if (conflicts.length > 0) await refuseConflicts(client, conflicts, { pulled, end: 'Nothing was pushed.' });
  for (const { field } of outdated)
    context.note(
      `${placeOfField(field)}: the project's text is newer than the file and stays. To get it: templates pull`,
    );
  for (const field of pulled.keys())
    if (templateField(field)?.part === 'content' && !files.has(field))
      context.note(
        `${placeOfField(field)} is gone, and the project's text stays. For the built-in text, push an empty file.`,
      );
  if (changes.length === 0) context.print('Nothing differs.');
  else await storeChanges(context, { client, read, changes });
  if (pulled.size > 0 && !context.flags['dry-run']) {
    const common = [...files].map(([field, file]) => [field, meaning(field, file, read.config)] as const);
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
  const values = valuesOf(changes, read.config);
  const dryRun = context.flags['dry-run'] === true;
  const allowWarnings = context.flags['allow-warnings'] === true;
  const warnings = await client.changeConfig(read, values, { allowWarnings, dryRun });
  for (const { field, file } of changes)
    context.print(
      `${dryRun ? 'would change' : 'changed'}  ${placeOfField(field)}${file === '' ? emptyMeans(field) : ''}`,
    );
  for (const warning of warnings) context.note(`Warning: ${inFiles(warning)}`);
}

function emptyMeans(field: string): string {
  return isTranslation(field) ? ' (empty: the text of the next language)' : ' (empty: the built-in text)';
}

/** The fields of a change. The partials are one field; an empty file removes its partial. */
function valuesOf(changes: readonly Difference[], config: ConfigJson): Record<string, unknown> {
  const isPartial = ({ field }: Difference) => field.startsWith(partialPrefix);
  const partials = changes.filter(isPartial);
  const pairs = changes.filter((change) => !isPartial(change)).map(({ field, file }) => [field, file] as const);
  const values: Record<string, unknown> = {
    ...Object.fromEntries(pairs.filter(([field]) => !isTranslation(field))),
    ...translationValues(
      pairs.filter(([field]) => isTranslation(field)),
      config,
    ),
  };
  if (partials.length === 0) return values;
  const changed = partials.map(({ field, file }) => [field.slice(partialPrefix.length), file] as const);
  const all = { ...partialsOf(config), ...Object.fromEntries(changed) };
  return { ...values, mailer_partials: Object.fromEntries(Object.entries(all).filter(([, text]) => text !== '')) };
}

/** Checked, because their names become files, and the server may be anybody's. @throws CommandError */
function partialsOf({ mailer_partials: partials }: ConfigJson): Readonly<Record<string, string>> {
  if (!isObject(partials)) return {};
  try {
    return authField('mailer_partials').kind.parse(partials) as Readonly<Record<string, string>>;
  } catch (error) {
    failCommand(`mailer_partials of the project ${(error as Error).message}.`);
  }
}

/** @throws CommandError with the author of project texts, or the files, that would be overwritten. */
async function refuseConflicts(
  client: ManagementClient,
  conflicts: readonly Difference[],
  { pulled, end }: { readonly pulled: TextsByField; readonly end: string },
): Promise<never> {
  // The author is helpful, but not required.
  const versions = await client.listVersions().catch(() => []);
  const problems = conflicts.map(({ field }) => {
    const last = versions.find(({ changed }) => changed.includes(field));
    const by = last === undefined ? '' : ` (version ${last.version}, ${last.updatedAt}, by ${last.updatedBy})`;
    const what = pulled.has(field)
      ? "both the file and the project's text have changed since the last pull"
      : "the file differs from the project's text, and was not pulled from there";
    return { problem: `${placeOfField(field)}: ${what}${by}.`, fix: null };
  });
  const fix = 'To see both: pgreflect templates diff. Then move these files away, pull, and edit the new ones.';
  throw new CommandError([...problems, { problem: end, fix }]);
}

/** Prints the differences between files and project. @returns The exit code: 1 if there are any, for CI. */
export async function diffTemplates(context: CommandContext): Promise<number> {
  const { client, directory, report } = open(context);
  const { config } = await client.readConfig();
  const { edited } = differences(readTemplates(directory, report), config);
  for (const { field, file, inForce } of edited) {
    const options = { context: 3, headerOptions: FILE_HEADERS_ONLY };
    const names = [`in force: ${placeOfField(field)}`, directory] as const;
    context.print(
      createTwoFilesPatch(...names, inForce, meaning(field, file, config), undefined, undefined, options).slice(0, -1),
    );
  }
  if (edited.length === 0) context.print('Nothing differs.');
  return edited.length === 0 ? 0 : 1;
}

interface Opened {
  readonly client: ManagementClient;
  readonly directory: string;
  readonly report: FileReport;
}

function open(context: CommandContext): Opened {
  const loaded = loadOptionsOrThrow(['externalUrl', 'projectRef', 'accessToken'] as const, context.sources);
  const directory = resolveTypedPath(context, flagText(context, 'dir') ?? defaultTemplateDirectory);
  const client = createManagementClient(loaded, context.sources.workingDirectory);
  const report = { note: context.note, warn: (text: string) => context.note(`Warning: ${text}`) };
  return { client, directory, report };
}

/** As the management API answers it. */
type ConfigJson = Readonly<Record<string, unknown>>;

function textsOf(config: ConfigJson): TextsByField {
  const partials = Object.entries(partialsOf(config)).map(([name, text]) => [`${partialPrefix}${name}`, text] as const);
  const fields = [...templateFieldNames, layoutField].map((name) => {
    const text = config[name];
    return [name, typeof text === 'string' ? text : ''] as const;
  });
  // The built-in page becomes a file only when edited.
  const linkPage = String(config[linkPageField] ?? '');
  const ownPage = linkPage === builtInLinkPage('en') ? '' : linkPage;
  return new Map([...fields, [linkPageField, ownPage], ...partials, ...translationsOf(config)]);
}

interface Difference {
  readonly field: string;
  readonly file: string;
  readonly inForce: string;
}

interface Differences {
  /** Files edited since the pull. */
  readonly edited: readonly Difference[];
  /** Unedited files whose project text changed. */
  readonly outdated: readonly Difference[];
}

function differences(files: TextsByField, config: ConfigJson, pulled: TextsByField = new Map()): Differences {
  const inForce = textsOf(config);
  const all = [...files].map(([field, file]) => ({ field, file, inForce: inForce.get(field) ?? '' }));
  const differing = all.filter((one) => !isSameText(one.field, meaning(one.field, one.file, config), one.inForce));
  const isPulled = ({ field, file }: Difference) => meaning(field, file, config) === pulled.get(field);
  return { edited: differing.filter((one) => !isPulled(one)), outdated: differing.filter(isPulled) };
}

/** A built-in text is the same with its page and, beside a layout of the project, without. */
function isSameText(field: string, text: string, inForce: string): boolean {
  const held = templateField(field);
  return text === inForce || (held !== null && isBuiltInText(held, text) && isBuiltInText(held, inForce));
}

/** An empty text means the built-in one. */
function meaning(field: string, text: string, config: ConfigJson): string {
  const held = templateField(field);
  if (text !== '' || held === null) return text;
  const { mailer_compatible, mailer_layout_content: layout } = config;
  const switches = { mailer_compatible: mailer_compatible === true };
  return builtInText(held, { ...switches, mailer_layout_content: typeof layout === 'string' ? layout : null }) ?? '';
}

/** A project's texts after its last pull or push: tells which side has edited since. Each checkout has its own. */
const pulledFolder = '.pulled';

/** The texts of the last pull or push; none for a project that was never pulled into the directory. */
function readPulled(directory: string, ref: string): TextsByField {
  const copy = join(directory, pulledFolder, ref);
  return existsSync(copy) ? readTexts(copy) : new Map();
}

/** Stores the texts for the next pull or push. */
function writePulled(directory: string, ref: string, texts: TextsByField): void {
  mkdirSync(join(directory, pulledFolder), { recursive: true });
  // If committed, it would claim to other checkouts a pull that they have not made.
  writeFileSync(join(directory, pulledFolder, '.gitignore'), '*\n');
  writeTemplates(join(directory, pulledFolder, ref), texts);
}
