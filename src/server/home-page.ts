/**
 * `/` in a browser: the studio, or where there is none, a page with the addresses. Programs that ask for JSON get the
 * error of any other unknown path.
 */
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
import { appendVary } from './append-vary.ts';
import { acceptsHtml } from './media-types.ts';
import { authPath, graphqlPath, studioPath } from './paths.ts';

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>pgreflect</title>
<h1>pgreflect</h1>
<ul>
<li><a href="${graphqlPath}">GraphQL, with GraphiQL</a>
<li><a href="${authPath}/health">Auth</a>
<li><a href="/ready">Is it ready?</a>
</ul>
`;

/** Adds the route. */
export function registerHomePage(app: FastifyInstance, config: Pick<Config, 'managementApiEnabled'>): void {
  app.get('/', (request, reply) => {
    if (!acceptsHtml(request.headers.accept)) return reply.callNotFound();
    reply.header('vary', appendVary(reply.getHeader('vary'), 'Accept'));
    if (config.managementApiEnabled) return reply.redirect(studioPath);
    reply.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
    return reply.type('text/html; charset=utf-8').send(page);
  });
}
