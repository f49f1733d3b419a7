/**
 * Parses the documents of clients. A file may use fragments of other files: its document has them, too.
 *
 * A mistake is told with its file, line and column.
 */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  parse,
  Source,
  visit,
} from 'graphql';
import { onOneLine } from '../../shared/one-line.ts';
import { type Sliced, sliceIsOver } from '../../shared/slices.ts';
import { validateDocument } from '../schema/validate.ts';
import type { DocumentSource } from './read-documents.ts';

/** A document that can be validated. */
export interface ParsedDocument {
  readonly source: DocumentSource;
  /** With the fragments that it uses of other files. */
  readonly document: DocumentNode;
  /** These fragments. */
  readonly added: readonly FragmentDefinitionNode[];
}

/** What is wrong with a document. */
export interface DocumentMistake {
  readonly file: string;
  /** In its manifest; null for a file of its own. */
  readonly id: string | null;
  /** From 1 on, in the file, or in the document of a manifest. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** Parsed documents, with the mistakes of those that do not parse. */
export interface ParsedDocuments {
  readonly documents: readonly ParsedDocument[];
  readonly mistakes: readonly DocumentMistake[];
}

/** Parses all. */
export function* parseDocuments(sources: readonly DocumentSource[]): Sliced<ParsedDocuments> {
  const mistakes: DocumentMistake[] = [];
  const parsed: (Omit<ParsedDocument, 'added'> & { readonly own: ReadonlySet<string> })[] = [];
  const shared = new Map<string, FragmentDefinitionNode>();
  for (const source of sources) {
    if (sliceIsOver()) yield;
    try {
      const document = parse(new Source(source.text, source.file), { allowEmptySelectionSets: false });
      const fragments = document.definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
      parsed.push({ source, document, own: new Set(fragments.map(({ name }) => name.value)) });
      for (const fragment of source.id === null ? fragments : []) {
        const { value } = fragment.name;
        const other = shared.get(value)?.loc?.source.name;
        if (other === undefined) shared.set(value, fragment);
        else if (other !== source.file) {
          const message = `Another fragment is named "${value}", in ${other}.`;
          mistakes.push(mistakeOf(new GraphQLError(message, { nodes: fragment.name }), source));
        }
      }
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      mistakes.push(mistakeOf(error, source));
    }
  }
  const documents: ParsedDocument[] = [];
  for (const { source, document, own } of parsed) {
    if (sliceIsOver()) yield;
    const added = source.id === null ? missingFragments(document, own, shared) : [];
    const whole = { ...document, definitions: [...document.definitions, ...added] };
    documents.push({ source, document: added.length === 0 ? document : whole, added });
  }
  return { documents, mistakes };
}

/** The fragments that a document uses and does not have, each once. */
function missingFragments(
  document: DocumentNode,
  own: ReadonlySet<string>,
  shared: ReadonlyMap<string, FragmentDefinitionNode>,
): readonly FragmentDefinitionNode[] {
  const added = new Map<string, FragmentDefinitionNode>();
  const open: (DocumentNode | FragmentDefinitionNode)[] = [document];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    visit(next, {
      FragmentSpread({ name: { value } }) {
        const fragment = shared.get(value);
        if (own.has(value) || added.has(value) || fragment === undefined) return;
        added.set(value, fragment);
        open.push(fragment);
      },
    });
  }
  return [...added.values()];
}

/** What of the documents does not fit a schema. @param options As of `validateDocument`. */
export function* validateDocuments(
  schema: GraphQLSchema,
  documents: readonly ParsedDocument[],
  options: { readonly strictVariablePositions: boolean },
): Sliced<readonly DocumentMistake[]> {
  const mistakes = new Map<string, DocumentMistake>();
  for (const { source, document } of documents) {
    if (sliceIsOver()) yield;
    for (const error of validateDocument(schema, document, { ...options, suggestions: true })) {
      const mistake = mistakeOf(error, source);
      // A fragment of several documents has its mistake once.
      mistakes.set(JSON.stringify(mistake), mistake);
    }
  }
  return [...mistakes.values()];
}

function mistakeOf({ message, source: named, locations }: GraphQLError, source: DocumentSource): DocumentMistake {
  const { line, column } = locations?.[0] ?? { line: 1, column: 1 };
  return { file: named?.name ?? source.file, id: source.id, line, column, message: onOneLine(message) };
}

/** `FILE:LINE:COLUMN`, where an editor opens it. */
export function printPlace({ file, id, line, column }: DocumentMistake): string {
  return `${file}:${id === null ? '' : ` document ${onOneLine(id).slice(0, 100)}, `}${line}:${column}`;
}

/** The place and the reason. */
export function printMistake(mistake: DocumentMistake): string {
  return `${printPlace(mistake)}: ${mistake.message}`;
}
