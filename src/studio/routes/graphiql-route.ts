/**
 * GET `/graphql/v1`: GraphiQL for browsers, built with the studio (src/studio/app/graphiql.html).
 *
 * The page contains the examples, and the anon key of a local project, so no page of another origin may read it, nor one
 * whose name was pointed at this machine. Its files are served below the same path, so it also works behind a proxy that
 * forwards only that.
 */
import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { acceptsHtml } from '../../server/media-types.ts';
import { graphqlPath } from '../../server/paths.ts';
import { refuseMethod } from '../../server/refuse-method.ts';
import { isLoopbackHost } from '../../shared/loopback.ts';
import { builtFile, keepToThisOrigin, sendStudioFile, setPagePolicy } from './studio-pages.ts';
import type { PageParts } from './studio-parts.ts';

/** Adds the routes. */
export function registerGraphiql(app: FastifyInstance, { config, graphiqlApiKey }: PageParts): void {
  const { host: ownHost } = new URL(config.externalUrl);
  const keyFor = (host: string | undefined) =>
    isLoopbackHost(host) || host?.toLowerCase() === ownHost ? graphiqlApiKey : null;
  app.get(graphqlPath, { onSend: keepPageToThisOrigin }, async (request, reply) => {
    if (!acceptsHtml(request.headers.accept)) {
      return refuseMethod(
        reply,
        'POST',
        'Send GraphQL requests with POST (in urql: preferGetMethod: false); a browser gets GraphiQL here.',
      );
    }
    const settings = JSON.stringify({
      apiKey: keyFor(request.headers.host),
      needsKey: config.requireApiKey,
      examples: config.exampleOperations,
    });
    // Escaped, so that its text cannot end the script element.
    const escaped = settings.replaceAll('<', '\\u003c');
    const page = await readFile(builtFile('graphiql.html'), 'utf8');
    setPagePolicy(reply).header('vary', 'Accept').type('text/html; charset=utf-8');
    return page.replace('type="application/json">{}', () => `type="application/json">${escaped}`);
  });
  app.get(`${graphqlPath}/assets/*`, { config: { cors: false }, onSend: keepToThisOrigin }, sendStudioFile);
}

/** Other answers of this path are those of the API. */
const keepPageToThisOrigin: typeof keepToThisOrigin = (request, reply, payload, done) => {
  if (String(reply.getHeader('content-type')).startsWith('text/html')) keepToThisOrigin(request, reply, payload, done);
  else done(null, payload);
};
