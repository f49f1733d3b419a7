/**
 * The pages and files of the browser application, as the build has made them.
 *
 * The pages are public and contain no data; they request it from the APIs with the user's token.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PublicError } from '../../shared/errors.ts';

/**
 * Allows only our own files, no inline scripts and no `eval`. Styles may be inline and images of any origin, because
 * frames with emails inherit the policy; a worker computes the layout of the schema.
 */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; " +
  "img-src 'self' https: http: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The same from src/ and from dist/. */
const root = fileURLToPath(new URL('../../../dist/studio-app/', import.meta.url));

/** Lets replies send the files, which were compressed at build time. */
export async function allowStudioFiles(app: FastifyInstance): Promise<void> {
  await app.register(fastifyStatic, {
    root,
    serve: false,
    dotfiles: 'ignore',
    preCompressed: true,
    suppressWarning: true,
  });
}

/** Sends the page; the application routes by the path itself. */
export function sendStudioPage(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  builtFile('index.html');
  return setPagePolicy(reply).sendFile('index.html', { cacheControl: false });
}

/** The path of a file of the studio. @throws PublicError if there is none. */
export function builtFile(name: string): string {
  if (existsSync(root + name)) return root + name;
  throw new PublicError('NOT_FOUND', 'The studio is not built.', { hint: 'Run npm run build:studio.' });
}

/** Sets the content security policy of a page. */
export function setPagePolicy(reply: FastifyReply): FastifyReply {
  reply.header('content-security-policy', contentSecurityPolicy).header('cache-control', 'no-cache');
  return reply.header('cross-origin-opener-policy', 'same-origin');
}

/** Cached for good, because a changed file gets a new name. A worker takes its policy from its own response. */
export function sendStudioFile(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { '*': name } = request.params as { readonly '*': string };
  reply.header('content-security-policy', contentSecurityPolicy);
  return reply.sendFile(`assets/${name}`, { maxAge: '1y', immutable: true });
}

/** Runs after the server's hooks, one of which adds the CORS headers. */
export function keepToThisOrigin(
  _request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload: unknown) => void,
): void {
  forThisOrigin(reply);
  done(null, payload);
}

/** Sets the headers of an answer of the studio. */
export function forThisOrigin(reply: FastifyReply): FastifyReply {
  reply.removeHeader('access-control-allow-origin').removeHeader('access-control-expose-headers');
  // A link in an email must open as from a mail client, without a referrer.
  return reply.header('referrer-policy', 'no-referrer').header('cross-origin-resource-policy', 'same-origin');
}
