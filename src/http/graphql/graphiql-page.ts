/**
 * The GraphiQL page: yoga's offline build, which loads nothing from elsewhere, under a bar of our own for key and token.
 *
 * Built when the first browser asks and kept compressed, because it is 9 MB of script that most gateways never send. It
 * is the same for everyone; key and token stay in the browser's tab (graphiql-bar.ts).
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { graphqlPath, type HttpParts } from '../server/parts.ts';
import { graphiqlBar } from './graphiql-bar.ts';

interface Page {
  readonly compressed: Buffer;
  readonly etag: string;
}

/** Whatever a page needs comes from the page itself, and it talks to this server only. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; worker-src blob:; style-src 'unsafe-inline'; " +
  "img-src 'self' data:; font-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Makes the handler that sends the page. */
export function createGraphiqlPage(
  parts: HttpParts,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  let page: Promise<Page> | null = null;
  return async (request, reply) => {
    page ??= buildPage(parts);
    const { compressed, etag } = await page;
    reply.header('content-type', 'text/html; charset=utf-8').header('content-security-policy', contentSecurityPolicy);
    reply.header('cache-control', 'no-cache').header('etag', etag).header('vary', 'Accept, Accept-Encoding');
    if (request.headers['if-none-match'] === etag) return reply.code(304).send();
    if (!/\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))) {
      return reply.send(await promisify(gunzip)(compressed));
    }
    return reply.header('content-encoding', 'gzip').send(compressed);
  };
}

async function buildPage({ config, graphiqlApiKey }: HttpParts): Promise<Page> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const tabs = config.exampleOperations.map(toTab);
  const page = renderGraphiQL({
    title: 'GraphiQL - pgreflect',
    endpoint: graphqlPath,
    // An empty list of tabs is a page without an editor.
    ...(tabs.length > 0 && { defaultTabs: tabs }),
  });
  const bar = graphiqlBar({ endpoint: graphqlPath, apiKey: graphiqlApiKey, variables: tabs[0]?.variables ?? null });
  const html = Buffer.from(insertBar(page, bar));
  const etag = `"${createHash('sha256').update(html).digest('base64url').slice(0, 27)}"`;
  return { compressed: await promisify(gzip)(html), etag };
}

/** A line `# variables: {...}` in an example fills the editor for variables. */
const variablesLine = /^# *variables: *(\{.*\}) *$/m;

function toTab(query: string): { readonly query: string; readonly variables: string | null } {
  return { query, variables: variablesLine.exec(query)?.[1] ?? null };
}

/** The bar stands before everything else of the page, so that its `fetch` is the one that the page uses. */
function insertBar(page: string, bar: string): string {
  const body = page.indexOf('<body');
  const end = page.indexOf('>', body) + 1;
  return page.slice(0, end) + bar + page.slice(end);
}
