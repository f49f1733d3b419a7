/**
 * GET `/graphql/v1` by a browser: GraphiQL, built with the studio (src/studio/app/graphiql.html).
 *
 * The page contains the examples, and the anon key of a local project, so no page of another origin may read it, nor one
 * whose name was pointed at this machine. Its files are served below the same path, so it also works behind a proxy that
 * forwards only that.
 */
import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import type { BrowserPage } from '../../graphql/routes/graphql-route.ts';
import { graphqlPath } from '../../server/paths.ts';
import { isLoopbackHost } from '../../shared/loopback.ts';
import { builtFile, keepToThisOrigin, sendStudioFile, setPagePolicy } from './studio-pages.ts';
import type { PageParts } from './studio-parts.ts';

/** Adds the routes of its files. @returns The page, for the route of the API. */
export function registerGraphiql(app: FastifyInstance, { config, graphiqlApiKey }: PageParts): BrowserPage {
  const { host: ownHost } = new URL(config.externalUrl);
  const keyFor = (host: string | undefined) =>
    isLoopbackHost(host) || host?.toLowerCase() === ownHost ? graphiqlApiKey : null;
  const send: BrowserPage['send'] = async (request, reply) => {
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
  };
  app.get(`${graphqlPath}/assets/*`, { config: { cors: false }, onSend: keepToThisOrigin }, sendStudioFile);
  return { send, onSend: keepPageToThisOrigin };
}

/** Other answers of this path are those of the API. */
const keepPageToThisOrigin: typeof keepToThisOrigin = (request, reply, payload, done) => {
  if (String(reply.getHeader('content-type')).startsWith('text/html')) keepToThisOrigin(request, reply, payload, done);
  else done(null, payload);
};
