/**
 * PostGraphile as its documentation sets it up for production: the Amber preset on node:http, NODE_ENV=production, no
 * watching, no GraphiQL, a pool of the same size as ours. Role and claims are set for each request, as ours are.
 *
 * In the schema `related` it has the plugins that filter by related rows, order by them and aggregate, too.
 *
 * Environment: DATABASE_URL, POOL_SIZE, SCHEMA. Prints `listening PORT`.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { postgraphile } from 'postgraphile';
import { makePgService } from 'postgraphile/adaptors/pg';
import { grafserv } from 'postgraphile/grafserv/node';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';
import { relatedPreset } from './postgraphile-plugins.ts';

const schema = process.env.SCHEMA ?? 'public';
const preset: GraphileConfig.Preset = {
  extends: [PostGraphileAmberPreset, ...(schema === 'related' ? [relatedPreset] : [])],
  pgServices: [
    makePgService({
      connectionString: process.env.DATABASE_URL ?? '',
      schemas: [schema],
      poolConfig: { max: Number(process.env.POOL_SIZE ?? 8) },
      pgSettings: () => ({ role: 'anon', 'request.jwt.claims': '{"role":"anon"}' }),
    }),
  ],
  grafserv: { watch: false, graphiql: false },
};

const server = createServer();
await postgraphile(preset).createServ(grafserv).addTo(server);
server.listen(0, '127.0.0.1', () => console.log(`listening ${(server.address() as AddressInfo).port}`));
