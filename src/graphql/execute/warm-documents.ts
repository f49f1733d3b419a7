/** Compiles trusted documents before they are asked for, so that the first request of each finds all but its values done. */
import {
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  typeFromAST,
} from 'graphql';
import { PublicError } from '../../shared/errors.ts';
import { inSlices, type Sliced, sliceIsOver } from '../../shared/slices.ts';
import { coerceVariables } from '../compile/input/document-variables.ts';
import type { TrustedList } from '../documents/trusted-list.ts';
import { isStackOverflow } from './answer/public-error.ts';
import { maxDocuments, type PreparedDocument } from './documents.ts';
import type { RoleReflection } from './reflection.ts';
import type { Reflector } from './reflector.ts';

/** Compiles as many as are kept, for each role, with pauses. @throws DatabaseError if the schema cannot be read. */
export async function warmDocuments(
  reflector: Pick<Reflector, 'role'>,
  list: TrustedList,
  roles: readonly string[],
): Promise<void> {
  const texts = [...list.texts()].slice(0, maxDocuments);
  for (const role of new Set(roles)) {
    const reflection = await reflector.role(role, null);
    if (reflection !== null && reflection.shared.model.directiveError === null) await inSlices(warm(reflection, texts));
  }
}

function* warm({ shared }: RoleReflection, texts: readonly string[]): Sliced<void> {
  const { documents } = shared;
  for (const text of texts) {
    if (sliceIsOver()) yield;
    const prepared = documents.prepare(text, null, shared.suggestions);
    if (prepared.kind === 'refused') continue;
    for (const { name } of prepared.operations) {
      if (sliceIsOver()) yield;
      compile(shared, prepared, name?.value ?? null);
    }
  }
}

/** Compiles an operation for the shape of variables that most requests have. A refusal is left to them. */
function compile({ documents, schema }: RoleReflection['shared'], document: PreparedDocument, name: string | null) {
  try {
    const { operation, places, compiler } = documents.choose(document, name);
    const values = Object.fromEntries(
      (operation.variableDefinitions ?? []).flatMap(({ variable, type: node, defaultValue }) => {
        const type = typeFromAST(schema, node);
        const value = defaultValue === undefined && isInputType(type) ? sampleOf(type) : undefined;
        return value === undefined ? [] : [[variable.name.value, value]];
      }),
    );
    const coerced = coerceVariables(schema, operation, places, { values, suggestions: false });
    if (coerced.kind === 'coerced') compiler.compile(coerced.variables);
  } catch (error) {
    if (!(error instanceof PublicError) && !isStackOverflow(error)) throw error;
  }
}

/** A value of a type; undefined: none, or the first requests have none, such as a cursor. */
function sampleOf(type: GraphQLInputType): unknown {
  if (isNonNullType(type)) return sampleOf(type.ofType) ?? (isInputObjectType(type.ofType) ? {} : undefined);
  if (isListType(type)) {
    const item = sampleOf(type.ofType);
    return item === undefined ? undefined : [item];
  }
  if (isEnumType(type)) return type.getValues()[0]?.name;
  return isInputObjectType(type) ? undefined : samples[type.name];
}

const samples: Readonly<Record<string, unknown>> = {
  BigFloat: '1',
  BigInt: '1',
  Boolean: true,
  Date: '2000-01-01',
  Datetime: '2000-01-01T00:00:00Z',
  Float: 1,
  Int: 1,
  JSON: '{}',
  String: 'a',
  Time: '00:00:00',
  UUID: '00000000-0000-4000-8000-000000000000',
};
