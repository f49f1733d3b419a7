/**
 * Answers only `__schema` and `__type` of an operation (docs/clients.md).
 *
 * PostgreSQL answers the other root fields. The operation is first reduced to its introspection fields, without their
 * unneeded variables and without types that the pruned schema lacks; graphql-js executes the rest.
 */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  print,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { DisconnectSignal } from '../../../shared/disconnect-signal.ts';
import { forgetStack, PublicError } from '../../../shared/errors.ts';
import { invariant, unreachable } from '../../../shared/invariant.ts';
import { inSlices } from '../../../shared/slices.ts';
import type { LazySchema } from '../../schema/lazy-schema.ts';
import { CompressedText, TextWriter } from '../answer/compressed-text.ts';
import { type CompiledIntrospection, compileIntrospection } from './write-introspection.ts';

/** One operation of a document that is valid for the role's schema. */
export interface IntrospectionRequest {
  readonly document: DocumentNode;
  readonly operationName: string | null;
  /** As sent by the client. */
  readonly variableValues: Readonly<Record<string, unknown>>;
  /** Answer only these response keys; null: all. */
  readonly responseKeys: ReadonlySet<string> | null;
  /** Limit of all texts together, in UTF-8. */
  readonly maxBytes: number;
  /** Aborted on disconnect; null: the client waits. */
  readonly signal: DisconnectSignal | null;
}

/**
 * The JSON text of every selected introspection field by response key, without fields that `@skip` or `@include`
 * removes. Made in slices and cached: for a thousand tables, the standard introspection takes half a second and 12 MB
 * of uncompressed text.
 *
 * @param schema Made by `buildIntrospectionSchema`: only the visible part of the API.
 * @throws PublicError `BAD_USER_INPUT` if a variable does not fit its place; `LIMIT_EXCEEDED`.
 */
export function answerIntrospection(
  schema: LazySchema,
  request: IntrospectionRequest,
): Promise<ReadonlyMap<string, string>> {
  return remember(schema, request, '', function* ({ fields }) {
    let rest = request.maxBytes;
    const texts = new Map<string, string>();
    for (const [key, write] of fields) {
      const writer = new TextWriter(rest);
      yield* write(writer);
      const text = String(writer.end());
      rest -= Buffer.byteLength(text);
      texts.set(key, text);
    }
    return texts;
  });
}

/**
 * The whole body of an operation with only introspection and `__typename`, compressed if long. The limit does not hold
 * for one that describes each type at most once, as tools do: a large schema has a large description.
 *
 * @param values By response key, in order, JSON text; null: introspection.
 * @throws PublicError as `answerIntrospection`.
 */
export function introspectionBody(
  schema: LazySchema,
  request: IntrospectionRequest,
  values: readonly (readonly [key: string, text: string | null])[],
): Promise<string | CompressedText> {
  return remember(schema, request, JSON.stringify(values), function* ({ fields, describesOnce }) {
    const text = new TextWriter(describesOnce ? Math.max(maxDescribed, request.maxBytes) : request.maxBytes);
    text.write('{"data":{');
    for (const [index, [key, value]] of values.entries()) {
      const write = fields.get(key);
      text.write(`${index === 0 ? '' : ','}${JSON.stringify(key)}:`);
      if (value === null && write !== undefined) yield* write(text);
      else text.write(value ?? 'null');
    }
    text.write('}}');
    return text.end();
  });
}

/** Limit of a description of each type, which is made and kept compressed: 127 MB of text for ten thousand tables. */
const maxDescribed = 256 * 1024 * 1024;

type IntrospectionText = ReadonlyMap<string, string> | string | CompressedText;

/** In characters and compressed bytes, for all schemas together, so that roles and reloads do not add up. */
const maxRemembered = 32 * 1024 * 1024;
/** Refusals as well: a client that repeats one costs no more than others. */
const answers = new LRUCache<string, IntrospectionText | PublicError>({
  maxSize: maxRemembered,
  sizeCalculation: sizeOf,
});

/** An answer that is being made, for all who ask for it meanwhile. */
interface PendingAnswer {
  answer: Promise<IntrospectionText> | null;
  readonly signals: (DisconnectSignal | null)[];
}

const pending = new Map<string, PendingAnswer>();

/** @param kind Distinguishes answers made of the same fields. */
async function remember<T extends IntrospectionText>(
  schema: LazySchema,
  request: IntrospectionRequest,
  kind: string,
  make: (compiled: CompiledIntrospection) => Generator<void, T>,
): Promise<T> {
  const document = reduceToIntrospection(schema, request);
  const key = `${request.maxBytes} ${kind} ${cacheKey(schema, document, request.variableValues)}`;
  const known = answers.get(key);
  if (known instanceof PublicError) throw known;
  if (known !== undefined) return known as T;
  const begun = pending.get(key);
  if (begun !== undefined) {
    begun.signals.push(request.signal);
    return begun.answer as Promise<T>;
  }
  const making: PendingAnswer = { answer: null, signals: [request.signal] };
  pending.set(key, making);
  const start = () => make(compileIntrospection(schema, document, request.variableValues));
  const answer = inSlices(makeAnswer(key, making, start));
  making.answer = answer;
  return answer;
}

/** Leaves the answer in the cache. */
function* makeAnswer<T extends IntrospectionText>(
  key: string,
  { signals }: PendingAnswer,
  start: () => Generator<void, T>,
): Generator<void, T> {
  try {
    const work = start();
    for (let step = work.next(); ; step = work.next()) {
      if (step.done) {
        answers.set(key, step.value);
        return step.value;
      }
      yield;
      if (signals.every((signal) => signal?.aborted))
        throw new PublicError('TIMEOUT', 'The request was cancelled by the client.');
    }
  } catch (error) {
    const refusal = error instanceof GraphQLError ? toPublicError(error) : error;
    if (refusal instanceof PublicError && refusal.code !== 'TIMEOUT') {
      forgetStack(refusal);
      answers.set(key, refusal);
    }
    throw refusal;
  } finally {
    pending.delete(key);
  }
}

function toPublicError({ message, path, locations }: GraphQLError): PublicError {
  return new PublicError('BAD_USER_INPUT', message, { ...(path && { path }), ...(locations && { locations }) });
}

function sizeOf(answer: IntrospectionText | PublicError, key: string): number {
  if (answer instanceof PublicError) return key.length + answer.message.length;
  if (typeof answer === 'string') return key.length + answer.length;
  if (answer instanceof CompressedText) return key.length + answer.gzip.length;
  return [...answer.values()].reduce((sum, text) => sum + text.length, key.length);
}

const schemaNumbers = new WeakMap<GraphQLSchema, number>();
let lastSchemaNumber = 0;

/** Schema, reduced operation, and values of its variables. */
function cacheKey(schema: GraphQLSchema, document: DocumentNode, values: Readonly<Record<string, unknown>>): string {
  const number = schemaNumbers.get(schema) ?? ++lastSchemaNumber;
  schemaNumbers.set(schema, number);
  const operation = getOperationAST(document);
  const names = operation?.variableDefinitions?.map((definition) => definition.variable.name.value) ?? [];
  const used = names.map((name) => (Object.hasOwn(values, name) ? [name, values[name]] : [name]));
  const variables = JSON.stringify(used, (_, value: unknown) =>
    typeof value === 'bigint' ? { bigint: `${value}` } : value,
  );
  return `${number} ${variables} ${print(document)}`;
}

function reduceToIntrospection(schema: GraphQLSchema, request: IntrospectionRequest): DocumentNode {
  const operation = getOperationAST(request.document, request.operationName);
  invariant(operation, 'the operation was chosen before');
  const rootType = schema.getQueryType()?.name;
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of request.document.definitions) {
    if (node.kind !== Kind.FRAGMENT_DEFINITION) continue;
    // No field returns the root type, so root fragments are used only at the root and can be reduced in place.
    const isRoot = node.typeCondition.name.value === rootType;
    const selectionSet = isRoot ? introspectionFields(node.selectionSet, request.responseKeys) : node.selectionSet;
    fragments.set(node.name.value, { ...node, selectionSet });
  }
  const selectionSet = introspectionFields(operation.selectionSet, request.responseKeys);
  const used = usedBy(selectionSet, fragments);
  const reduced: OperationDefinitionNode = {
    ...operation,
    directives: [],
    variableDefinitions: (operation.variableDefinitions ?? []).filter((d) => used.variables.has(d.variable.name.value)),
    selectionSet,
  };
  return { kind: Kind.DOCUMENT, definitions: [reduced, ...used.fragments] };
}

/** The root selections without data fields. Fragments stay, even if empty. */
function introspectionFields(
  selectionSet: SelectionSetNode,
  responseKeys: ReadonlySet<string> | null,
): SelectionSetNode {
  const selections = selectionSet.selections.flatMap((node): SelectionSetNode['selections'] => {
    switch (node.kind) {
      case Kind.FIELD: {
        const isIntrospection = node.name.value === '__schema' || node.name.value === '__type';
        const isWanted = responseKeys === null || responseKeys.has((node.alias ?? node.name).value);
        return isIntrospection && isWanted ? [node] : [];
      }
      case Kind.INLINE_FRAGMENT:
        return [{ ...node, selectionSet: introspectionFields(node.selectionSet, responseKeys) }];
      case Kind.FRAGMENT_SPREAD:
        return [node];
      default:
        return unreachable(node);
    }
  });
  return { kind: Kind.SELECTION_SET, selections };
}

/** The fragments and variables of a selection set, including those of nested fragments. */
function usedBy(selectionSet: SelectionSetNode, fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
  const variables = new Set<string>();
  const found = new Map<string, FragmentDefinitionNode>();
  const collect = (node: SelectionSetNode) =>
    visit(node, {
      Variable(variable) {
        variables.add(variable.name.value);
      },
      FragmentSpread(spread) {
        const fragment = fragments.get(spread.name.value);
        if (fragment === undefined || found.has(spread.name.value)) return;
        found.set(spread.name.value, fragment);
        collect(fragment.selectionSet);
      },
    });
  collect(selectionSet);
  return { variables, fragments: [...found.values()] };
}
