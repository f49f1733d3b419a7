/**
 * The executor on a test's database, without HTTP: an operation of a role in, the parsed answer out. Everything below it is
 * the real thing: catalog, model, schema, compiler, one flight as the login role `authenticator`.
 */

import { extensionNames } from '../../src/config/extensions.ts';
import { coerceVariables } from '../../src/graphql/compile/input/document-variables.ts';
import type { Statement } from '../../src/graphql/compile/print/print-operation.ts';
import { createExecutor } from '../../src/graphql/execute/create-executor.ts';
import type { Answer } from '../../src/graphql/execute/executor.ts';
import type { RoleReflection } from '../../src/graphql/execute/reflection.ts';
import { Reflector, type ReflectorOptions } from '../../src/graphql/execute/reflector.ts';
import { createApiPool } from '../../src/postgres/pool/pool.ts';
import type { Observation } from '../../src/shared/observation.ts';
import type { TestDatabase } from './postgres.ts';
import { sharedPool } from './read-model.ts';
import { atEnd } from './when-over.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
export type Json = any;

/** What a test may change. */
export interface ExecutionOptions {
  /** `public` by default; null: the login's search path. */
  readonly schemas?: readonly string[] | null;
  /** Role and password of the login; `authenticator` and `test` by default. */
  readonly login?: readonly [role: string, password: string];
  /** Interval of the comparison; by default there is none. */
  readonly pollMs?: number;
  readonly introspection?: ReflectorOptions['introspection'];
  /** All by default, as in the product. */
  readonly extensions?: ReflectorOptions['extensions'];
  readonly readOnlyQueries?: boolean;
  readonly absentFilterVariables?: 'ignore' | 'refuse';
  readonly maxResponseBytes?: number;
  readonly strictVariablePositions?: boolean;
  readonly extraSearchPath?: readonly string[];
  readonly statementTimeoutMs?: number;
  /** `null`: the requests are subject to no limit. */
  readonly limits?: Partial<typeof defaultLimits> | null;
  readonly showHints?: boolean;
  /** `exact` by default, as in the product. */
  readonly freshness?: 'exact' | 'bounded';
}

const defaultLimits = { maxDepth: 20, maxAliases: 500, maxTokens: 20_000, maxCost: 1_000_000, maxRootFields: 50 };

/** Further members of a request. */
export interface Given {
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly operationName?: string;
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** An executor under test. */
export interface TestExecution {
  readonly observations: readonly Observation[];
  /** The parsed body. */
  run(role: string, query: string, given?: Given): Promise<{ readonly data?: Json; readonly errors?: Json }>;
  /** The answer with its body as text. */
  answer(role: string, query: string, given?: Given): Promise<Answer>;
  /** `data` of an answer without errors; fails the test when there are some. */
  data(role: string, query: string, given?: Given): Promise<Json>;
  /** The messages of an answer's errors. */
  errors(role: string, query: string, given?: Given): Promise<readonly string[]>;
  /** What the operation compiles to. */
  statements(role: string, query: string, given?: Given): Promise<readonly Statement[]>;
  /** What the role sees. */
  role(role: string): Promise<RoleReflection>;
  /** Reads the catalog again, as `notify pgreflect` would make it. */
  reload(): Promise<void>;
  /** Compares the catalog, as is done at an interval; true: it had changed and was read again. */
  compare(): Promise<boolean>;
}

const connecting = { waitMs: 60_000, applicationName: 'pgreflect test', preparedStatements: true };

/** Starts an executor on the database; stopped after the test file. */
export async function startExecution(database: TestDatabase, options: ExecutionOptions = {}): Promise<TestExecution> {
  const observations: Observation[] = [];
  const observe = (observation: Observation) => void observations.push(observation);
  const connectionString = database.urlAs(...(options.login ?? (['authenticator', 'test'] as const)));
  const shared = { connectionString, ...connecting };
  const systemPool = sharedPool(connectionString);
  const pool = createApiPool({
    ...shared,
    size: 4,
    maxStatementsPerConnection: 150,
    onEvent: () => {},
  });
  const maxResponseBytes = options.maxResponseBytes ?? 16 * 1024 * 1024;
  const statementTimeoutMs = options.statementTimeoutMs ?? 20_000;
  const freshness = options.freshness ?? 'exact';
  const reflector = new Reflector({
    systemPool,
    schemas: options.schemas === undefined ? ['public'] : options.schemas,
    schemaPollMs: options.pollMs ?? 3_600_000,
    introspection: options.introspection ?? 'directive',
    extensions: options.extensions ?? extensionNames,
    serviceRole: 'service_role',
    extraSearchPath: options.extraSearchPath ?? null,
    statementTimeoutMs,
    freshness,
    variablePositions: options.strictVariablePositions ? 'strict' : 'compatible',
    observe,
  });
  await reflector.start();
  const executor = createExecutor({
    pool,
    replicas: null,
    reflector,
    trusted: null,
    limits: { ...defaultLimits, ...options.limits },
    maxResponseBytes,
    requestTimeoutMs: statementTimeoutMs,
    readOnlyQueries: options.readOnlyQueries ?? false,
    absentFilterVariables: options.absentFilterVariables ?? 'ignore',
    freshness,
    observe,
  });
  atEnd(async () => {
    reflector.stop();
    await pool.stop();
  });
  const answer = (role: string, query: string, given: Given = {}): Promise<Answer> =>
    executor.execute(
      {
        role,
        claims: JSON.stringify({ role, ...given.claims }),
        headers: '{}',
        method: 'POST',
        path: '/graphql/v1',
      },
      { query, documentId: null, operationName: given.operationName ?? null, variables: given.variables ?? null },
      {
        queuedAs: 'a test',
        requestId: 'test',
        signal: null,
        showHints: options.showHints ?? false,
        unlimited: options.limits === null,
        anyDocument: true,
      },
    );
  const run = async (role: string, query: string, given?: Given) =>
    JSON.parse(String((await answer(role, query, given)).body));
  const roleOf = async (role: string): Promise<RoleReflection> => {
    const reflection = await reflector.role(role, null);
    if (reflection === null) throw new Error(`There is no role ${role}.`);
    return reflection;
  };
  return {
    observations,
    answer,
    run,
    async data(role, query, given) {
      const body = await run(role, query, given);
      if (body.errors) throw new Error(`errors: ${JSON.stringify(body.errors)}${masked(observations)}`);
      return body.data;
    },
    async errors(role, query, given) {
      const body = await run(role, query, given);
      return (body.errors ?? []).map((error: Json) => error.message as string);
    },
    async statements(role, query, given = {}) {
      const { shared: schema } = await roleOf(role);
      const document = schema.documents.prepare(query, null);
      if (document.kind === 'refused') throw new Error(document.errors.map(({ message }) => message).join('\n'));
      const operation = schema.documents.choose(document, given.operationName ?? null);
      const coerced = coerceVariables(schema.schema, operation.operation, operation.places, {
        values: given.variables ?? {},
        suggestions: true,
      });
      if (coerced.kind === 'refused') throw new Error(coerced.errors.map(({ message }) => message).join('\n'));
      return operation.compiler.compile(coerced.variables).statements;
    },
    role: roleOf,
    reload: () => reflector.reload('asked'),
    compare: () => reflector.refreshIfChanged('test'),
  };
}

function masked(observations: readonly Observation[]): string {
  const last = observations.findLast((observation) => observation.kind === 'masked_error');
  return last?.kind === 'masked_error' ? `\n${String(last.error)}` : '';
}
