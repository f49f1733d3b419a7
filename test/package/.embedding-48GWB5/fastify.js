import Fastify from 'fastify';
import { gateway } from './gateway.js';

export const app = Fastify();

// The gateway reads the bodies itself.
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

for (const path of ['/graphql/v1', '/auth/v1/*']) {
  app.all(path, async ({ url, method, headers, body, ip }, reply) => {
    const request = new Request(new URL(url, 'https://shop.example.com'), { method, headers, body });
    return reply.send(await gateway.fetch(request, { address: ip }));
  });
}
