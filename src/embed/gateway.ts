/** A whole gateway in another program: all APIs and the studio behind one `fetch`, without a port of its own. */
import { startGateway } from '../gateway.ts';
import { maxManagementBodyBytes } from '../management/routes/management-parts.ts';
import { type EmbeddedOperations, embedOperations } from './embedded-operations.ts';
import type { RequestFacts } from './fetch-graphql.ts';
import { createServerFetch } from './fetch-server.ts';
import type { EmbedExtras } from './graphql.ts';
import { type GatewayOptions, readOptions } from './read-options.ts';

/** A running gateway. */
export interface EmbeddedGateway extends EmbeddedOperations {
  /** Answers a request to any path of the gateway, such as `/graphql/v1` and `/auth/v1/token`. */
  fetch(request: Request, facts?: RequestFacts): Promise<Response>;
  /** Lets running requests finish for `drainTimeoutMs`, then closes the connections to the database. */
  close(): Promise<void>;
}

/**
 * Starts a gateway that listens nowhere. When the promise resolves, the schema was read or the database found
 * unavailable. Without `observe` in the extras, it logs to standard output as `logLevel` and `logFormat` say.
 *
 * @throws ConfigError with every problem of the options; DatabaseError if the database refuses the login.
 */
export async function createGateway(options: GatewayOptions, { observe }: EmbedExtras = {}): Promise<EmbeddedGateway> {
  const config = readOptions(options);
  const gateway = await startGateway(config, { ...(observe && { observe }), listen: false });
  return {
    ...embedOperations(config, gateway.graphql),
    fetch: createServerFetch(gateway.app, Math.max(config.limits.maxBodyBytes, maxManagementBodyBytes)),
    close: () => gateway.stop(),
  };
}
