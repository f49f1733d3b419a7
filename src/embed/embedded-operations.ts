/** Operations of callers whom the embedding program has authenticated itself, and the schema of a role. */
import { randomUUID } from 'node:crypto';
import type { ExecutionResult, GraphQLSchema } from 'graphql';
import { type PrivilegeOptions, privilegesOf } from '../graphql/execute/executor.ts';
import type { Graphql } from '../graphql/open-graphql.ts';
import { countedAs } from '../server/caller/client-address.ts';
import { graphqlPath } from '../server/paths.ts';

/** Who runs an operation. Nothing of it is verified: it is what the program says. */
export interface EmbeddedCaller {
  /** Database role, such as `authenticated`. */
  readonly role: string;
  /** What `request.jwt.claims` holds besides `role`; policies read it. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** What `request.headers` holds; policies and functions may read it. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An operation. */
export interface EmbeddedOperation {
  /** May be absent if `documentId` is given. */
  readonly query?: string | null | undefined;
  /** Of a trusted document (option `trustedDocuments`). */
  readonly documentId?: string | null | undefined;
  readonly operationName?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
}

/** What a program can do without HTTP. */
export interface EmbeddedOperations {
  /** Runs an operation. Errors of the operation and of the database are in the result; it rejects for faults of ours. */
  execute(caller: EmbeddedCaller, operation: EmbeddedOperation): Promise<ExecutionResult>;
  /**
   * The schema of a role, for tools that print or compare it; null if the database lacks the role.
   *
   * @throws DatabaseError if the database was not read yet and does not answer.
   */
  schema(role: string): Promise<GraphQLSchema | null>;
  /** Why operations cannot run now, in one sentence; null if they can. */
  ready(): string | null;
}

/** Makes the operations. The service role passes the limits of requests, as over HTTP. */
export function embedOperations(
  config: PrivilegeOptions,
  { executor, reflector }: Pick<Graphql, 'executor' | 'reflector'>,
): EmbeddedOperations {
  return {
    async execute({ role, claims = {}, headers = {} }, operation) {
      const { query = null, documentId = null, operationName = null, variables = null } = operation;
      const caller = {
        role,
        claims: JSON.stringify({ ...claims, role }),
        headers: JSON.stringify(headers),
        method: 'POST',
        path: graphqlPath,
      };
      const { body } = await executor.execute(
        caller,
        { query, documentId, operationName, variables },
        {
          requestId: randomUUID(),
          queuedAs: countedAs(typeof claims.sub === 'string' ? claims.sub : null, null),
          signal: null,
          ...privilegesOf(config, role),
        },
      );
      return JSON.parse(String(body)) as ExecutionResult;
    },
    schema: async (role) => (await reflector.role(role, null))?.shared.schema ?? null,
    ready: () => executor.notReady(),
  };
}
