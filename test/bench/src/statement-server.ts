/**
 * What baseline and bare server have in common: a request names its statement and has the values of its parameters,
 * {"statement": "one-row 0", "values": ["7"]}. Prints `listening PORT`.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { runOneFlight } from './one-flight.ts';

/** Serves the statements; `answer` makes the `data` of the first column of the last row. */
export function serveStatements(statements: ReadonlyMap<string, string>, answer: (text: string) => string): void {
  const max = Number(process.env.POOL_SIZE ?? 8);
  const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL ?? '', max });
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
      const body = Buffer.from(`{"data":${answer(text)}}`);
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
      response.end(body);
    });
  });
  server.listen(0, '127.0.0.1', () => console.log(`listening ${(server.address() as AddressInfo).port}`));
}
