/**
 * Documents of one schema: parsed, validated and compiled once, then found by their text. Invalid ones are cached as
 * well, so a client that repeats a mistake costs no more than others.
 */
import { hash as digest } from 'node:crypto';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  type SelectionSetNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { forgetStack, PublicError } from '../../shared/errors.ts';
import { once } from '../../shared/once.ts';
import { bytesPerToken, createCompiledOperations, OperationCompiler } from '../compile/compile-operation.ts';
import { type DocumentVariables, examineVariables } from '../compile/input/document-variables.ts';
import { filterVariables } from '../compile/input/filter-variables.ts';
import type { UnknownField } from '../model/explain-missing.ts';
import type { Model } from '../model/model.ts';
import { type Correction, explainDocument } from '../schema/explain-mistake.ts';
import { validateDocument } from '../schema/validate.ts';
import { fromGraphQLError, isStackOverflow, tooDeep } from './answer/public-error.ts';

/** A valid document. */
export interface PreparedDocument {
  readonly kind: 'prepared';
  readonly hash: string;
  readonly document: DocumentNode;
  readonly tokens: number;
  readonly aliases: number;
  readonly operations: readonly OperationDefinitionNode[];
}

/** An invalid document; `fatal` ones do not parse, whatever the schema. */
interface RefusedDocument {
  readonly kind: 'refused';
  readonly hash: string;
  readonly errors: readonly PublicError[];
  /** What hints are made of, for each error. */
  readonly clues: readonly Clue[];
  /** The clues have all names of the schema. */
  readonly isExplained: boolean;
  readonly fatal: boolean;
  /** Those of a document that parses. */
  readonly operations: readonly NamedOperation[];
}

/** What an operation is found by. */
type NamedOperation = Pick<OperationDefinitionNode, 'name' | 'operation'>;

/** What is known about a mistake. */
export interface Clue {
  readonly unknownField: UnknownField | null;
  readonly correction: Correction | null;
}

/** An operation with all that compiling it needs. */
interface PreparedOperation {
  readonly operation: OperationDefinitionNode;
  readonly places: DocumentVariables;
  /** Variables in filters of writes, found when asked for. */
  readonly filterVariables: () => readonly string[];
  readonly compiler: OperationCompiler;
}

interface DocumentsOptions {
  readonly model: Model;
  readonly schema: GraphQLSchema;
  readonly introspection: boolean;
  /** Messages may suggest names, because the whole schema may be introspected anyway. */
  readonly suggestions: boolean;
  readonly strictVariablePositions: boolean;
  /** Counts for all schemas of the gateway. */
  readonly counts: DocumentCounts;
}

/** Cache hits and misses of documents. */
export interface DocumentCounts {
  hits: number;
  misses: number;
}

/** Limits of the cache: number of documents, and their estimated bytes; one over a quarter of them is not cached. */
export const maxDocuments = 1000;
const maxBytes = 64 * 1024 * 1024;

/** The documents of one schema. */
export class Documents {
  readonly #options: DocumentsOptions;
  readonly #documents = new LRUCache<string, PreparedDocument | RefusedDocument>({
    max: maxDocuments,
    maxSize: maxBytes,
    maxEntrySize: maxBytes / 4,
    sizeCalculation: (document, text) =>
      2 * text.length + 1 + (document.kind === 'prepared' ? bytesPerToken * document.tokens : 0),
  });
  readonly #kept = createCompiledOperations();
  readonly #operations = new WeakMap<OperationDefinitionNode, PreparedOperation>();

  constructor(options: DocumentsOptions) {
    this.#options = options;
  }

  /**
   * Parses and validates.
   *
   * @param maxTokens Null: no limit.
   * @param mayDiscover The caller may read names that it has not sent.
   */
  prepare(text: string, maxTokens: number | null, mayDiscover = true): PreparedDocument | RefusedDocument {
    const known = this.#documents.get(text);
    if (known && (known.kind === 'prepared' || known.isExplained || !mayDiscover)) {
      this.#options.counts.hits += 1;
      return known;
    }
    this.#options.counts.misses += 1;
    const prepared = prepareDocument(text, { ...this.#options, maxTokens, mayDiscover });
    // A document over the token limit may be valid for a caller without that limit.
    if (prepared.kind === 'prepared' || !prepared.fatal) this.#documents.set(text, prepared);
    return prepared;
  }

  /** The kind of the operation to run; null where there is none. */
  kindOf(document: PreparedDocument | RefusedDocument, operationName: string | null): OperationTypeNode | null {
    return findOperation(document, operationName)?.operation ?? null;
  }

  /** The name of the operation to run, also where its document is not valid; null where it has none. */
  nameOf(document: PreparedDocument | RefusedDocument, operationName: string | null): string | null {
    return findOperation(document, operationName)?.name?.value ?? null;
  }

  /** The operation to run. */
  choose(document: PreparedDocument, operationName: string | null): PreparedOperation {
    const operation = findOperation(document, operationName);
    if (operation === null) throw new PublicError('OPERATION_NOT_FOUND', 'Operation not found');
    const known = this.#operations.get(operation);
    if (known) return known;
    const { model, schema, introspection } = this.#options;
    const places = examineVariables(schema, document.document, operation);
    const compiling = { model, schema, introspection, kept: this.#kept };
    const source = { ...compiling, document: document.document, operation, places };
    const inFilters = once(() => filterVariables(schema, document.document, operation));
    const prepared = { operation, places, filterVariables: inFilters, compiler: new OperationCompiler(source) };
    this.#operations.set(operation, prepared);
    return prepared;
  }
}

function findOperation<T extends NamedOperation>(
  { operations }: { readonly operations: readonly T[] },
  name: string | null,
): T | null {
  const [found, another] = operations.filter((operation) => name === null || operation.name?.value === name);
  return another === undefined ? (found ?? null) : null;
}

interface PrepareOptions extends DocumentsOptions {
  readonly maxTokens: number | null;
  readonly mayDiscover: boolean;
}

function prepareDocument(text: string, options: PrepareOptions): PreparedDocument | RefusedDocument {
  const { maxTokens, mayDiscover } = options;
  const hash = digest('sha256', text).slice(0, 16);
  const refused = (errors: readonly PublicError[], fatal: boolean, clues: readonly Clue[] = []) => {
    for (const error of errors) forgetStack(error);
    return { kind: 'refused', hash, errors, fatal, clues, isExplained: mayDiscover, operations } as const;
  };
  let operations: readonly NamedOperation[] = [];
  try {
    // The grammar requires a field between braces; graphql-js allows none by default.
    const strict = { allowEmptySelectionSets: false };
    const document = parse(text, maxTokens === null ? strict : { ...strict, maxTokens });
    const definitions = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
    operations = definitions.map(({ name, operation }) => ({ name, operation }));
    const { strictVariablePositions, suggestions } = options;
    const errors = validateDocument(options.schema, document, { strictVariablePositions, suggestions });
    if (errors.length > 0) {
      const visible = errors.map((error) => fromGraphQLError(error, 'GRAPHQL_VALIDATION_FAILED'));
      const corrections = explainDocument({ schema: options.schema, mayDiscover }, document, errors);
      const clues = corrections.map((correction, index) => ({
        unknownField: unknownField(errors[index]!),
        correction,
      }));
      return refused(visible, false, clues);
    }
    const [tokens, aliases] = [document.tokenCount ?? 0, countAliases(document)];
    return { kind: 'prepared', hash, document, tokens, aliases, operations: definitions };
  } catch (error) {
    if (error instanceof GraphQLError) return refused([fromSyntaxError(error, maxTokens)], true);
    if (isStackOverflow(error)) return refused([tooDeep(error)], true);
    throw error;
  }
}

function fromSyntaxError(error: GraphQLError, maxTokens: number | null): PublicError {
  if (maxTokens !== null && error.message.includes(`more than ${maxTokens} tokens`)) return tooManyTokens(maxTokens);
  return fromGraphQLError(error, 'GRAPHQL_PARSE_FAILED');
}

/** The error for a document over the token limit. */
export function tooManyTokens(maxTokens: number): PublicError {
  const message = `The document has more than ${maxTokens} tokens (option --max-tokens).`;
  const hint = 'Send long lists and objects as variables, which have no tokens.';
  return new PublicError('LIMIT_EXCEEDED', message, { extensions: { limit: 'max-tokens' }, hint });
}

function countAliases(document: DocumentNode): number {
  let count = 0;
  const look = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD && selection.alias !== undefined) count += 1;
      if (selection.kind !== Kind.FRAGMENT_SPREAD && selection.selectionSet !== undefined) look(selection.selectionSet);
    }
  };
  for (const definition of document.definitions) if ('selectionSet' in definition) look(definition.selectionSet);
  return count;
}

function unknownField(error: GraphQLError): UnknownField | null {
  const [node] = error.nodes ?? [];
  // A role that may write nothing has no such root type. The message says that the field is missing.
  if (node?.kind === Kind.OPERATION_DEFINITION && node.operation === OperationTypeNode.MUTATION) {
    const [first] = node.selectionSet.selections;
    return first?.kind === Kind.FIELD ? { field: first.name.value, type: 'Mutation' } : null;
  }
  const [, field, type] = /^Cannot query field "(\w+)" on type "(\w+)"/.exec(error.message) ?? [];
  return field === undefined || type === undefined ? null : { field, type };
}
