/**
 * Reads the documents of clients from a path: a folder of `.graphql` files, one such file, or a manifest in JSON, as
 * Relay, graphql-codegen and Apollo write it.
 *
 * Nothing outside a folder is read: what leads out of it is refused. Sizes are bounded before anything is read.
 */
import { isUtf8 } from 'node:buffer';
import { lstatSync, readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import { ConfigError } from '../../config/config-error.ts';
import { isObject } from '../../shared/json.ts';
import { onOneLine } from '../../shared/one-line.ts';
import { type Sliced, sliceIsOver } from '../../shared/slices.ts';

/** A document as it was found. */
export interface DocumentSource {
  /** The file, as messages name it. */
  readonly file: string;
  /** Of a manifest; null for a file of its own. */
  readonly id: string | null;
  readonly text: string;
}

/** Limits of all documents together. */
const maxBytes = 64 * 1024 * 1024;
const maxDocuments = 100_000;

const endings: readonly string[] = ['.graphql', '.gql'];

/**
 * Reads all, ordered by file.
 *
 * @param path Of the file or folder.
 * @param typed The same, as the operator wrote it.
 * @throws ConfigError with the one problem.
 */
export function* readDocuments(path: string, typed = path): Sliced<readonly DocumentSource[]> {
  const facts = factsOf(path, typed);
  if (!facts.isDirectory()) {
    const text = readText({ path, typed, bytes: facts.size }, { bytes: 0 });
    return extname(path) === '.json' ? readManifest(text, typed) : [{ file: typed, id: null, text }];
  }
  const used = { bytes: 0 };
  const documents: DocumentSource[] = [];
  for (const file of yield* listFolder(path, typed)) {
    if (sliceIsOver()) yield;
    documents.push({ file: file.typed, id: null, text: readText(file, used) });
  }
  if (documents.length === 0) fail(`${typed} has no file that ends in ${endings.join(' or ')}.`);
  return documents;
}

/**
 * What tells whether the documents have changed: another text for other names, sizes or times of files.
 *
 * @throws ConfigError as `readDocuments`.
 */
export function* printDocumentsOf(path: string): Sliced<string> {
  const facts = factsOf(path, path);
  if (!facts.isDirectory()) return printOf(path, facts);
  const files = yield* listFolder(path, path);
  return files.map(({ path: file, facts: of }) => printOf(file, of)).join('\n');
}

function printOf(path: string, { size, mtimeMs, ctimeMs, ino }: Stats): string {
  return [path, size, mtimeMs, ctimeMs, ino].join(' ');
}

interface FoundFile {
  readonly path: string;
  readonly typed: string;
  readonly bytes: number;
  readonly facts: Stats;
}

/** The documents below a folder, by name. Hidden files and folders are no documents. */
function* listFolder(folder: string, typed: string): Sliced<readonly FoundFile[]> {
  const root = realpathSync(folder);
  const found: FoundFile[] = [];
  const open = [{ path: folder, typed }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const entry of readdirSync(next.path, { withFileTypes: true })) {
      if (sliceIsOver()) yield;
      if (entry.name.startsWith('.')) continue;
      const one = { path: join(next.path, entry.name), typed: join(next.typed, onOneLine(entry.name)) };
      if (entry.isDirectory()) open.push(one);
      else if (endings.includes(extname(entry.name))) found.push(fileOf(one, root));
      if (found.length > maxDocuments) fail(`${typed} has more than ${maxDocuments} documents.`);
    }
  }
  return found.sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** A file with its facts. @param root The folder, without links. */
function fileOf({ path, typed }: { readonly path: string; readonly typed: string }, root: string): FoundFile {
  if (lstatSync(path).isSymbolicLink()) {
    // Orchestrators mount files as links to a hidden folder beside them.
    const target = reach(typed, () => realpathSync(path));
    if (!target.startsWith(root + sep)) fail(`${typed} is a link that leads out of the folder.`);
  }
  const facts = factsOf(path, typed);
  if (!facts.isFile()) fail(`${typed} is no file.`);
  return { path, typed, bytes: facts.size, facts };
}

function factsOf(path: string, typed: string): Stats {
  return reach(typed, () => statSync(path));
}

function readText({ path, typed, bytes }: Omit<FoundFile, 'facts'>, used: { bytes: number }): string {
  used.bytes += bytes;
  if (used.bytes > maxBytes) fail(`${typed}: the documents have more than ${maxBytes / 1024 / 1024} MiB together.`);
  const content = reach(typed, () => readFileSync(path));
  if (!isUtf8(content)) fail(`${typed} is not valid UTF-8.`);
  const text = content.toString('utf8');
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

function reach<T>(typed: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    fail(`${typed} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`);
  }
}

const manifestHint =
  'It is an object of documents by hash, as Relay and graphql-codegen write it, or a manifest of Apollo with "operations".';

function readManifest(text: string, typed: string): readonly DocumentSource[] {
  const manifest = parseManifest(text, typed);
  const entries = Array.isArray(manifest.operations)
    ? manifest.operations.map((operation: unknown) => {
        const { id, body } = isObject(operation) ? operation : {};
        return [id, body] as const;
      })
    : Object.entries(manifest);
  if (entries.length > maxDocuments) fail(`${typed} has more than ${maxDocuments} documents.`);
  return entries.map(([id, body], index) => {
    if (typeof id === 'string' && id !== '' && typeof body === 'string') return { file: typed, id, text: body };
    const named = typeof id === 'string' ? `"${onOneLine(id).slice(0, 100)}"` : `number ${index + 1}`;
    return fail(`${typed}: the document ${named} has no id or no text.`, manifestHint);
  });
}

function parseManifest(text: string, typed: string): Readonly<Record<string, unknown>> {
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch {
    fail(`${typed} is not valid JSON.`, manifestHint);
  }
  return isObject(manifest) ? manifest : fail(`${typed} is no manifest of documents.`, manifestHint);
}

function fail(problem: string, fix: string | null = null): never {
  throw new ConfigError([{ problem, fix }]);
}
