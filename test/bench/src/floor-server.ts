/**
 * The floor: a bare node:http server that answers each case with the best SQL written by hand, in one flight, without any
 * GraphQL. What a gateway costs is the distance to this.
 *
 * Environment: DATABASE_URL, POOL_SIZE. A request names its case and operation and has the values of its parameters:
 * {"statement": "one-row 0", "values": ["7"]}.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { cases } from './cases.ts';
import { runOneFlight } from './one-flight.ts';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL ?? '', max: Number(process.env.POOL_SIZE ?? 8) });
const statements = new Map<string, string>(
  cases.flatMap(({ name, operations }) =>
    operations.map(({ handwritten }, index) => [`${name} ${index}`, handwritten] as const),
  ),
);

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', async () => {
    const { statement, values } = JSON.parse(Buffer.concat(chunks).toString()) as {
      readonly statement: string;
      readonly values: readonly string[];
    };
    const client = await pool.connect();
    const text = await runOneFlight(client, statement, statements.get(statement) ?? '', values);
    client.release();
    const body = Buffer.from(`{"data":${text}}`);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
});
server.listen(0, '127.0.0.1', () => console.log(`listening ${(server.address() as AddressInfo).port}`));
