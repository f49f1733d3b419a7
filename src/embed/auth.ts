/**
 * `pgreflect/auth`: the auth service alone, for programs with an API of their own. It loads nothing of the GraphQL API.
 */
import { createAuthPool } from '../auth/auth-pool.ts';
import { openAuth } from '../auth/open-auth.ts';
import { describeAuth } from '../auth/routes/auth-description.ts';
import { maxAuthBodyBytes, notInstalled, registerAuth } from '../auth/routes/auth-route.ts';
import { ConfigError } from '../config/config-error.ts';
import { openManagement } from '../management/open-management.ts';
import { createAuthenticator } from '../server/caller/authenticate.ts';
import { closeServer, createHttpServer } from '../server/create-http-server.ts';
import { errorAnswer } from '../server/error-body.ts';
import { createReadiness } from '../server/health.ts';
import { authPath, authUrlOf } from '../server/paths.ts';
import { systemClock } from '../shared/clock.ts';
import { PublicError } from '../shared/errors.ts';
import type { RequestFacts } from './fetch-graphql.ts';
import { createServerFetch } from './fetch-server.ts';
import type { EmbedExtras } from './graphql.ts';
import { type GatewayOptions, readOptions } from './read-options.ts';

/** A running auth service. */
export interface EmbeddedAuth {
  /** Answers a request to a path below `/auth/v1`. */
  fetch(request: Request, facts?: RequestFacts): Promise<Response>;
  /** Why requests cannot be answered now, in one sentence; null if they can. */
  ready(): Promise<string | null>;
  /** Lets running requests finish for `drainTimeoutMs`, then closes the connections to the database. */
  close(): Promise<void>;
}

/** How long a look at who owns the tables counts, in milliseconds: nothing here notices a changed catalog. */
const lookMs = 1000;

/**
 * Starts the service. It connects with the first request, or before it where stored configuration is read.
 *
 * @throws ConfigError with every problem of the options, also if no key signs tokens.
 */
export async function createAuth(
  options: GatewayOptions,
  { observe = () => {} }: EmbedExtras = {},
): Promise<EmbeddedAuth> {
  const config = readOptions(options);
  const clock = systemClock;
  const onLost = () => {};
  const pool = createAuthPool(config, observe, onLost);
  const looking = setInterval(() => pool.lookAgain(), lookMs).unref();
  const management = openManagement({ config, authUrl: authUrlOf(config), pool, clock, observe });
  // Closes in reverse order of opening.
  const opened = new AsyncDisposableStack();
  opened.defer(() => pool.stop());
  opened.defer(() => management.stop());
  opened.defer(() => clearInterval(looking));
  try {
    await management.loaded;
    const authenticate = await createAuthenticator(config, clock, observe);
    const auth = await openAuth({
      config,
      clock,
      observe,
      database: pool,
      configStore: management.store,
      verifyToken: authenticate.verifyToken,
      onLost,
      // Without the management API there are no access tokens.
      findOperator: null,
    });
    if (auth === null) throw new ConfigError([noSigningKey]);
    opened.defer(() => auth.stop());
    const isAnswering = createReadiness(() => null, pool.catalog);
    const ready = async () => (await isAnswering()) ?? ((await auth.auth.isInstalled()) ? null : notInstalled);
    const app = await createHttpServer({ config, observe, ready }, async (http) => {
      await registerAuth(http, { config, authenticate, observe }, auth.auth);
      return [describeAuth];
    });
    opened.defer(() => closeServer(app, config.drainTimeoutMs));
    await app.ready();
    const fetchAny = createServerFetch(app, maxAuthBodyBytes);
    return {
      fetch: async (request, facts) => (isOfAuth(request) ? fetchAny(request, facts) : refuseElsewhere()),
      ready,
      close: () => opened.disposeAsync(),
    };
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

function isOfAuth({ url }: Request): boolean {
  return new URL(url).pathname.startsWith(`${authPath}/`);
}

function refuseElsewhere(): Response {
  const error = new PublicError('NOT_FOUND', `The auth service is below "${authPath}".`);
  const { status, body } = errorAnswer(error, 'application/graphql-response+json');
  return new Response(body, { status, headers: { 'content-type': 'application/json; charset=utf-8' } });
}

const noSigningKey = {
  problem: 'No key signs tokens.',
  fix: 'Set jwtSecret, or add a key with `sign` in key_ops to jwtKeys.',
};
