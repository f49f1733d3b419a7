/**
 * The SQL of an operation and its PostgreSQL plan under a role: for the command `explain` and the studio.
 *
 * Runs in a transaction that is rolled back; only `analyze` executes the statements.
 */
import { connectionReset } from '../../postgres/caller/connection-reset.ts';
import { buildSettings } from '../../postgres/caller/settings.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { PublicError } from '../../shared/errors.ts';
import { about, listOf, named, objectOf, orNull, text, type ValueOf } from '../../shared/schema.ts';
import { bindSlots } from '../compile/input/bind-slot.ts';
import { coerceVariables } from '../compile/input/document-variables.ts';
import { chooseDocument } from '../documents/trusted-list.ts';
import type { GraphQLRequest } from './executor.ts';
import type { RoleReflection } from './reflection.ts';
import type { Reflector } from './reflector.ts';

/** A statement with its values. */
export interface BoundStatement {
  readonly text: string;
  readonly values: readonly (string | null)[];
}

/** A statement with its plan. */
export const explainedStatement = named(
  'ExplainedStatement',
  objectOf({
    text: about(text, 'SQL.'),
    values: listOf(orNull(text)),
    plan: listOf(about(text, "A line of PostgreSQL's plan.")),
  }),
);

/** A statement with its plan. */
export type ExplainedStatement = ValueOf<typeof explainedStatement>;

/** An operation's statements, or all reasons why it is invalid. */
type BoundOperation =
  | { readonly kind: 'bound'; readonly statements: readonly BoundStatement[] }
  | { readonly kind: 'refused'; readonly errors: readonly Error[] };

/** Compiles an operation as for a request of the role. */
export function bindOperation({ shared }: RoleReflection, request: GraphQLRequest): BoundOperation {
  const { directiveError } = shared.model;
  if (directiveError !== null) {
    return refused(`The comment directive of ${directiveError.object} is malformed: ${directiveError.problem}`);
  }
  try {
    const document = shared.documents.prepare(chooseDocument(null, request, true), null);
    if (document.kind === 'refused') return document;
    const { operation, places, compiler } = shared.documents.choose(document, request.operationName);
    const asked = { values: request.variables ?? {}, suggestions: true };
    const coerced = coerceVariables(shared.schema, operation, places, asked);
    if (coerced.kind === 'refused') return coerced;
    const compiled = compiler.compile(coerced.variables);
    if (compiled.errors.length > 0) return { kind: 'refused', errors: compiled.errors };
    if (compiled.introspectionKeys.length > 0) {
      return refused('Introspection is answered without SQL. Leave __schema and __type out.');
    }
    // With any number, the plan is the same; with this one, no object is too long.
    const countedBytes = Number.MAX_SAFE_INTEGER;
    const source = { variables: coerced.variables, introspection: new Map<string, string>(), countedBytes };
    const statements = compiled.statements.map(({ text, slots }) => ({ text, values: bindSlots(slots, source) }));
    return { kind: 'bound', statements };
  } catch (error) {
    if (error instanceof PublicError) return { kind: 'refused', errors: [error] };
    throw error;
  }
}

function refused(message: string): BoundOperation {
  return { kind: 'refused', errors: [new PublicError('BAD_USER_INPUT', message)] };
}

/**
 * Makes the function that explains operations of a running gateway, with the model of its requests.
 *
 * @returns See `Explain` of the routes: throws PublicError, the first reason why there are no statements.
 */
export function createExplainer(reflector: Pick<Reflector, 'role'>, pool: SystemPool) {
  return async (role: string, claims: string, request: GraphQLRequest): Promise<readonly ExplainedStatement[]> => {
    const reflection = await reflector.role(role, null);
    if (reflection === null) throw new PublicError('NOT_FOUND', `There is no role "${role}" in the database.`);
    const bound = bindOperation(reflection, request);
    if (bound.kind === 'refused') throw toPublic(bound.errors[0]);
    return explainStatements(pool, reflection, bound.statements, { claims, analyze: false });
  };
}

/** Parser and validation errors are public already. */
function toPublic(error: Error | undefined): PublicError {
  if (error instanceof PublicError) return error;
  return new PublicError('GRAPHQL_VALIDATION_FAILED', error?.message ?? 'The operation cannot be run.');
}

/**
 * The statements with their plans, under the role.
 *
 * @param options.claims JSON that policies see in `request.jwt.claims`.
 * @param options.analyze Execute, to get real times.
 * @throws DatabaseError
 */
export async function explainStatements(
  pool: SystemPool,
  { role, searchPath, settings, timeoutMs }: RoleReflection,
  statements: readonly BoundStatement[],
  { claims, analyze }: { readonly claims: string; readonly analyze: boolean },
): Promise<readonly ExplainedStatement[]> {
  const caller = { role, claims, headers: '{}', method: 'POST', path: '/graphql/v1' };
  const input = { caller, searchPath, settings, timeoutMs: analyze ? timeoutMs : 0, freshness: null };
  const settingsOfCaller = buildSettings({ ...input, preRequest: null });
  const run = async (tx: Queryable): Promise<readonly ExplainedStatement[]> => {
    // Planning runs code of policies, views and indexes, as the caller.
    tx.noteUserCode?.();
    // As for a request: the settings of the login, then those of the caller.
    await Promise.all([
      ...connectionReset.plain.map(({ text }) => tx.query(text, [])),
      tx.query(settingsOfCaller.readWrite.first.plain, settingsOfCaller.values),
    ]);
    const explained: ExplainedStatement[] = [];
    for (const statement of statements) {
      explained.push({ ...statement, plan: await readPlan(tx, statement, analyze) });
    }
    // Only the plan is wanted.
    await tx.query('rollback');
    return explained;
  };
  // The operator sets the time limit of executed statements.
  return analyze ? pool.transaction(run, { answerWithinMs: null }) : pool.transaction(run);
}

async function readPlan(tx: Queryable, statement: BoundStatement, analyze: boolean): Promise<readonly string[]> {
  const how = analyze ? 'explain (analyze, buffers) ' : 'explain ';
  const rows = await tx.query(`${how}${statement.text}`, statement.values);
  return rows.map((row) => String(row['QUERY PLAN']));
}
