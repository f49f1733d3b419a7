/**
 * Which document a request names: the one that it sends, or a trusted document by its id. Every way into the API asks
 * `chooseDocument`, so a document that is not trusted has no other way in.
 */
import { hash as digest } from 'node:crypto';
import { ConfigError } from '../../config/config-error.ts';
import { PublicError } from '../../shared/errors.ts';
import { onOneLine } from '../../shared/one-line.ts';
import { type Sliced, sliceIsOver } from '../../shared/slices.ts';
import { type ParsedDocument, parseDocuments, printMistake } from './parse-documents.ts';
import type { DocumentSource } from './read-documents.ts';

/** The trusted documents. Immutable. */
export class TrustedList {
  /** By their ids in a manifest, and by the SHA-256 of their texts. */
  readonly #texts: ReadonlyMap<string, string>;

  constructor(texts: ReadonlyMap<string, string>) {
    this.#texts = texts;
  }

  /** The text of an id, with or without `sha256:` in front; null: unknown. */
  find(id: string): string | null {
    return this.#texts.get(id) ?? this.#texts.get(plainId(id)) ?? null;
  }

  /** Whether a document is one of them, character by character. */
  has(text: string): boolean {
    return this.#texts.get(digest('sha256', text)) === text;
  }

  /** Each text once. */
  texts(): ReadonlySet<string> {
    return new Set(this.#texts.values());
  }
}

/** Of GraphQL over HTTP, appendix on persisted documents. */
const prefix = 'sha256:';

function plainId(id: string): string {
  return id.startsWith(prefix) ? id.slice(prefix.length) : id;
}

/** Makes the list. Fragments of other files are appended to the text of a file. @throws ConfigError for a mistake. */
export function* listTrusted(sources: readonly DocumentSource[]): Sliced<TrustedList> {
  const texts = new Map<string, string>();
  for (const { id, text, file } of yield* completeTexts(sources)) {
    if (sliceIsOver()) yield;
    const hash = digest('sha256', text);
    if (!texts.has(hash)) texts.set(hash, text);
    if (id === null) continue;
    const plain = plainId(id);
    const other = texts.get(plain);
    if (other !== undefined && other !== text) {
      const problem = `${file}: two documents have the id "${onOneLine(id).slice(0, 100)}".`;
      throw new ConfigError([{ problem, fix: null }]);
    }
    texts.set(plain, text);
  }
  return new TrustedList(texts);
}

const spreads = /\.\.\.\s*(?!on\b)([_a-zA-Z]\w*)/g;
const fragments = /\bfragment\s+([_a-zA-Z]\w*)/g;

/** Only files with fragments, or without some that they use, are parsed: parsing takes most of the time. */
function* completeTexts(sources: readonly DocumentSource[]): Sliced<readonly DocumentSource[]> {
  const [whole, parted]: DocumentSource[][] = [[], []];
  let lacksAny = false;
  for (const source of sources) {
    if (sliceIsOver()) yield;
    const own = new Set(namesIn(source.text, fragments));
    const lacks = namesIn(source.text, spreads).some((name) => !own.has(name));
    lacksAny ||= lacks && source.id === null;
    if (source.id === null && (lacks || own.size > 0)) parted!.push(source);
    else whole!.push(source);
  }
  if (!lacksAny) return sources;
  const { documents, mistakes } = yield* parseDocuments(parted!);
  if (mistakes.length > 0) throw new ConfigError(mistakes.map((one) => ({ problem: printMistake(one), fix: null })));
  return [...whole!, ...documents.map(completeText)];
}

/** The id is that of the file as it is. */
function completeText({ source, added }: ParsedDocument): DocumentSource {
  const texts = added.map(({ loc }) => loc?.source.body.slice(loc.start, loc.end) ?? '');
  if (texts.length === 0) return source;
  return { ...source, id: digest('sha256', source.text), text: [source.text.trimEnd(), ...texts, ''].join('\n\n') };
}

function namesIn(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, name]) => name!);
}

/** How a request names its document: by its text, by an id, or by both. */
export interface NamedDocument {
  readonly query: string | null;
  readonly documentId: string | null;
}

/**
 * The text of the document.
 *
 * @param list Null: the gateway has no trusted documents.
 * @param mayRunOthers The caller may run documents that are not trusted.
 * @throws PublicError `DOCUMENT_NOT_TRUSTED`; `PERSISTED_QUERY_NOT_FOUND`; `BAD_REQUEST` where text and id differ.
 */
export function chooseDocument(
  list: TrustedList | null,
  { query, documentId }: NamedDocument,
  mayRunOthers: boolean,
): string {
  if (list === null) return query ?? refuse('BAD_REQUEST', 'PersistedQueryNotSupported', noList);
  if (documentId === null && query === null) refuse('BAD_REQUEST', 'The request names no document.', null);
  const named = documentId === null ? null : list.find(documentId);
  if (query === null) return named ?? refuse('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound', null);
  if (!mayRunOthers && !list.has(query)) refuse('DOCUMENT_NOT_TRUSTED', notTrusted, notTrustedHint);
  const isSame = named === null ? digest('sha256', query) === plainId(documentId ?? '') : named === query;
  if (documentId !== null && !isSame) refuse('BAD_REQUEST', 'The id is not that of the document in "query".', null);
  return query;
}

const noList = 'The gateway has no trusted documents (option --trusted-documents). Send the member "query".';
const notTrusted = 'The document is not one of the trusted documents (option --trusted-only).';
const notTrustedHint =
  'Send the member "documentId" with the id of a trusted document. The service key may run others.';

function refuse(
  code: 'BAD_REQUEST' | 'DOCUMENT_NOT_TRUSTED' | 'PERSISTED_QUERY_NOT_FOUND',
  message: string,
  hint: string | null,
): never {
  throw new PublicError(code, message, hint === null ? {} : { hint });
}
