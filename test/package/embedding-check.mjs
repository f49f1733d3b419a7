/**
 * Runs in a folder with the programs of docs/embedding.md: asks each of them, and prints what it has answered as JSON.
 */
import { createRequire } from 'node:module';
import { auth } from './auth.js';
import { app as fastify } from './fastify.js';
import { gateway } from './gateway.js';
import { graphql } from './graphql.js';
import { app as hono } from './hono.js';
import { handler } from './lambda.js';
import { GET, POST } from './next/app/graphql/v1/route.js';
import { html } from './templates.js';
import { yoga } from './yoga.js';

const url = 'https://shop.example.com/graphql/v1';
const query = '{ thingCollection { edges { node { name } } } }';
const headers = { 'content-type': 'application/json', apikey: process.env.ANON_KEY };
const body = JSON.stringify({ query });
const post = (path = url, init = {}) => new Request(path, { method: 'POST', headers, body, ...init });
const read = async (response) => ({ status: response.status, body: await response.json() });

const origin = await fastify.listen({ port: 0, host: '127.0.0.1' });
const { apikey: _, ...withoutKey } = headers;
const event = {
  rawPath: '/graphql/v1',
  rawQueryString: '',
  headers: { ...headers, host: 'shop.example.com' },
  body,
  isBase64Encoded: false,
  requestContext: { http: { method: 'POST', sourceIp: '192.0.2.7' } },
};
const account = JSON.stringify({ email: 'ann@mail.test', password: 'a good password' });
const signUp = post('https://shop.example.com/auth/v1/signup', { body: account });
const answers = {
  fastify: await read(await fetch(`${origin}/graphql/v1`, post(`${origin}/graphql/v1`))),
  fastifyAuth: await read(await fetch(`${origin}/auth/v1/settings`, { headers })),
  next: await read(await POST(post())),
  nextPage: (await GET(new Request(url, { headers: { accept: 'text/html' } }))).headers.get('content-type'),
  hono: await read(await hono.fetch(post())),
  lambda: JSON.parse((await handler(event)).body),
  yoga: await read(await yoga.fetch(post())),
  graphql: await read(await graphql.fetch(post())),
  graphqlWithoutKey: await read(await graphql.fetch(post(url, { headers: withoutKey }))),
  graphqlByGet: (await graphql.fetch(new Request(`${url}?${new URLSearchParams({ query })}`, { headers }))).status,
  graphqlTooLarge: await read(
    await graphql.fetch(post(url, { body: JSON.stringify({ query: ' '.repeat(2_000_000) }) })),
  ),
  execute: await gateway.execute({ role: 'anon' }, { query }),
  asUser: await graphql.execute(
    { role: 'authenticated', claims: { sub: 'c5a1b0c2-0000-4000-8000-000000000001' } },
    {
      query: 'query ($first: Int) { thingCollection(first: $first) { edges { node { name } } } }',
      variables: { first: 1 },
    },
  ),
  ready: gateway.ready(),
  auth: (await read(await auth.fetch(new Request('https://shop.example.com/auth/v1/settings', { headers })))).status,
  authSignUp: await read(await auth.fetch(signUp)),
  authElsewhere: await read(await auth.fetch(post())),
  authReady: await auth.ready(),
  types: Object.keys((await gateway.schema('anon')).getTypeMap()).includes('thing'),
  unknownRole: await gateway.schema('nobody'),
  html,
  fastifyVersion: createRequire(import.meta.url)('fastify/package.json').version.split('.')[0],
};
await fastify.close();
await Promise.all([gateway.close(), graphql.close(), auth.close()]);
// The gateway logs to standard output, too.
process.stdout.write(`\nanswers: ${JSON.stringify(answers)}\n`);
