/** `pgreflect/graphql`: the GraphQL API alone. It loads neither an HTTP server nor the auth service. */
import { openGraphql } from '../graphql/open-graphql.ts';
import { createAuthenticator } from '../server/caller/authenticate.ts';
import type { Observe } from '../shared/observation.ts';
import { type EmbeddedOperations, embedOperations } from './embedded-operations.ts';
import { createGraphqlFetch, type RequestFacts } from './fetch-graphql.ts';
import { type GatewayOptions, readOptions } from './read-options.ts';

/** A running GraphQL API. */
export interface GraphqlApi extends EmbeddedOperations {
  /** Answers a request to the API. The API key and the token in its headers decide who the caller is. */
  fetch(request: Request, facts?: RequestFacts): Promise<Response>;
  /** Closes the connections to the database. */
  close(): Promise<void>;
}

/** What is no option of the command line. */
export interface EmbedExtras {
  /** Receives the log; default: nothing is logged. */
  readonly observe?: Observe;
}

/**
 * Starts the API. When the promise resolves, the schema was read or the database found unavailable.
 *
 * @throws ConfigError with every problem of the options; DatabaseError if the database refuses the login.
 */
export async function createGraphql(
  options: Omit<GatewayOptions, 'auth'>,
  { observe = () => {} }: EmbedExtras = {},
): Promise<GraphqlApi> {
  const config = readOptions(options);
  const authenticate = await createAuthenticator(config, undefined, observe);
  const graphql = openGraphql(config, { observe });
  try {
    await graphql.start();
  } catch (error) {
    await graphql.stop();
    throw error;
  }
  graphql.warm();
  return {
    ...embedOperations(config, graphql),
    fetch: createGraphqlFetch({ config, executor: graphql.executor, authenticate, observe }),
    close: () => graphql.stop(),
  };
}
