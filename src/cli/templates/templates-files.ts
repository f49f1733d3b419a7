/**
 * Emails as files, for `pgreflect templates pull|push|diff`: `NAME.html` is the body of an email, `NAME.txt` its text
 * part if it has a template of its own, and `subjects.json` an object with all subjects by name. `layout.html` goes
 * around them, and `partials/NAME.html` are templates that they share. `link_page.html` is the page that asks before a
 * link is used. Translations are in translation-files.ts. Names of Supabase do as well (email-names.ts).
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { linkPageField, textFields } from '../../config/auth/auth-template-fields.ts';
import { type EmailKind, emailKindNames } from '../../config/auth/email-kinds.ts';
import type { Problem } from '../../config/config-error.ts';
import { templateField } from '../../email/lint/check-template.ts';
import type { ChangeNote } from '../../management/change-note.ts';
import { isObject, parseJson } from '../../shared/json.ts';
import { CommandError, failCommand } from '../shared/command.ts';
import { emailNamed, unknownEmail } from './email-names.ts';
import { isTranslation, placeOfTranslation, translationIn } from './translation-files.ts';

/** The field of the layout. */
export const layoutField = 'mailer_layout_content';

/** Fields of partials begin with it; the API has one field for all of them. */
export const partialPrefix = 'mailer_partials.';

/** Texts by field name; absent emails or parts are left unchanged. */
export type TextsByField = ReadonlyMap<string, string>;

const subjectsFile = 'subjects.json';
const layoutFile = 'layout.html';
const linkPageFile = 'link_page.html';
const partialsFolder = 'partials';

/** The file of a field's text, for messages. */
export function placeOfField(field: string): string {
  if (field === layoutField) return layoutFile;
  if (field === linkPageField) return linkPageFile;
  const translation = placeOfTranslation(field);
  if (translation !== null) return translation;
  if (field.startsWith(partialPrefix)) return `${partialsFolder}/${field.slice(partialPrefix.length)}.html`;
  const [, email, part] = /^mailer_templates_(.+)_(content|text)$/.exec(field) ?? [];
  if (email === undefined) return `${subjectsFile}: ${field.replace('mailer_subjects_', '')}`;
  return `${email}${part === 'content' ? '.html' : '.txt'}`;
}

/** The name here of the text that a note of the management API is about; null: of none. */
export function nameOfText({ field, language, part, partial }: ChangeNote): string | null {
  if (language !== undefined) return `${field}.${language}.${part}`;
  if (partial !== undefined) return `${partialPrefix}${partial}`;
  const isText = field === layoutField || field === linkPageField || (field !== null && templateField(field) !== null);
  return isText ? field : null;
}

/** A note of the management API with the file instead of the field. */
export function inFiles(note: ChangeNote): string {
  const name = nameOfText(note);
  if (name === null) return note.message;
  const { line, column, reason } = note;
  const state = note.in_force === true ? ', which is in force' : '';
  const place = line === undefined ? '' : `line ${line}, column ${column}: `;
  return `${placeOfField(name)}${state}: ${place}${reason}`;
}

/** Writes the files of every email into a directory, created if missing. @returns The written files. */
export function writeTemplates(directory: string, texts: TextsByField): readonly string[] {
  mkdirSync(directory, { recursive: true });
  const subjects: Record<string, string> = {};
  const written: string[] = [];
  const present = filesIn(directory, noReport);
  const write = (field: string): void => {
    const [text, file] = [texts.get(field), present.get(field) ?? placeOfField(field)];
    // Most emails have no text part of their own, and most projects no layout.
    if (text === undefined || (text === '' && !existsSync(join(directory, file)))) return;
    writeFileSync(join(directory, file), text);
    written.push(file);
  };
  for (const email of emailKindNames) {
    const fields = textFields(email);
    const subject = texts.get(fields.subject);
    if (subject !== undefined) subjects[email] = subject;
    write(fields.content);
    write(fields.text);
  }
  const partials = [...texts.keys()].filter((field) => field.startsWith(partialPrefix));
  if (partials.length > 0) mkdirSync(join(directory, partialsFolder), { recursive: true });
  const translations = [...texts.keys()].filter(isTranslation);
  for (const field of [layoutField, linkPageField, ...partials, ...translations]) write(field);
  writeFileSync(join(directory, subjectsFile), `${JSON.stringify(subjects, null, 2)}\n`);
  return [...written, subjectsFile];
}

/** What is told of the files of a directory. */
export interface FileReport {
  /** A file is read under another name. */
  note(text: string): void;
  /** A file of no email is left alone. */
  warn(text: string): void;
}

const noReport: FileReport = { note: () => {}, warn: () => {} };

/** Reads the texts of a directory. @throws CommandError if there are none, or a name is a mistyped email. */
export function readTemplates(directory: string, report: FileReport): TextsByField {
  const texts = readTexts(directory, report);
  if (texts.size === 0)
    failCommand(`The directory "${directory}" has no email templates.`, 'To create them: pgreflect templates pull');
  return texts;
}

/** As `readTemplates`, for a directory that may contain no email. */
export function readTexts(directory: string, report: FileReport = noReport): TextsByField {
  const files = listDirectory(directory);
  const texts = new Map<string, string>();
  for (const [field, file] of filesIn(directory, report)) texts.set(field, readText(directory, file));
  if (files.includes(partialsFolder)) {
    const folder = join(directory, partialsFolder);
    for (const file of listDirectory(folder).filter((name) => name.endsWith('.html')))
      texts.set(`${partialPrefix}${file.slice(0, -'.html'.length)}`, readText(folder, file));
  }
  if (files.includes(subjectsFile)) {
    for (const [name, subject] of readSubjects(directory)) {
      const email = emailNamed(name);
      if (email === null) throw new CommandError([unknownSubject(name)]);
      texts.set(textFields(email).subject, subject);
    }
  }
  return texts;
}

/** The files of emails by field. @throws CommandError */
function filesIn(directory: string, report: FileReport): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const file of listDirectory(directory)) {
    const field = fieldOf(file, report);
    if (field === null) continue;
    const other = files.get(field);
    if (other !== undefined) failCommand(`${other} and ${file} are the same email.`, 'Keep one of them.');
    files.set(field, file);
    if (file !== placeOfField(field)) report.note(`${file} is read as ${placeOfField(field)}.`);
  }
  return files;
}

/** The field of a file; null for a file that is none of ours. @throws CommandError for a mistyped email. */
function fieldOf(file: string, { warn }: FileReport): string | null {
  if (file === layoutFile) return layoutField;
  if (file === linkPageFile) return linkPageField;
  const emailOf = (name: string): EmailKind | null => {
    const email = emailNamed(name);
    if (email !== null) return email;
    const unknown = unknownEmail(name, file);
    if (unknown.fix !== null) throw new CommandError([unknown]);
    warn(`${file} has the name of no email, so it is left alone.`);
    return null;
  };
  const [, name, language, ending] = /^([^.]*)(\.[^.]*)?\.(html|txt|subject)$/.exec(file) ?? [];
  if (name === undefined) return null;
  if (language !== undefined) return translationIn(file, emailOf);
  if (ending === 'subject') return null;
  const email = emailOf(name);
  if (email === null) return null;
  return ending === 'html' ? textFields(email).content : textFields(email).text;
}

function unknownSubject(name: string): Problem {
  const { problem, fix } = unknownEmail(name, subjectsFile);
  return { problem, fix: fix ?? `Emails are: ${emailKindNames.join(', ')}.` };
}

function listDirectory(directory: string): readonly string[] {
  try {
    return readdirSync(directory).sort();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    failCommand(`The directory "${directory}" cannot be read (${code}).`, 'To create it: pgreflect templates pull');
  }
}

/** Strips a byte order mark, which some editors write. Refuses encodings other than UTF-8. */
function readText(directory: string, file: string): string {
  const bytes = readFileSync(join(directory, file));
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // Editors end a file with a line break, which a subject must not have.
    return file.endsWith('.subject') ? text.replace(/\r?\n$/, '') : text;
  } catch {
    failCommand(`${file} is not UTF-8.`, 'Save it as UTF-8.');
  }
}

function readSubjects(directory: string): readonly (readonly [string, string])[] {
  const json = parseJson(readText(directory, subjectsFile));
  if (json === undefined) failCommand(`${subjectsFile} is not valid JSON.`);
  if (!isObject(json) || Object.values(json).some((subject) => typeof subject !== 'string'))
    failCommand(`${subjectsFile} must be an object of subjects by the name of their email.`);
  return Object.entries(json) as [string, string][];
}
