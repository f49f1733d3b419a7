/**
 * What baseline and bare server have in common: a request names its statement and has the variables that pgreflect gets, too,
 * {"statement": "one-row 0", "variables": {"n": 7}}. Prints `listening PORT`.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { everyCase, type Operation, type Variables } from './cases.ts';
import { runOneFlight } from './one-flight.ts';

const operations = new Map(
  everyCase.flatMap(({ name, operations }) => operations.map((each, index) => [`${name} ${index}`, each] as const)),
);

/** Serves the statement of each operation; `answer` makes the `data` of the first column of its last row. */
export function serveStatements(statementOf: (operation: Operation) => string, answer: (text: string) => string): void {
  const max = Number(process.env.POOL_SIZE ?? 8);
  const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL ?? '', max });
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const { statement, variables } = JSON.parse(Buffer.concat(chunks).toString()) as {
        readonly statement: string;
        readonly variables: Variables;
      };
      const operation = operations.get(statement) as Operation;
      const values = operation.parameters(variables);
      const client = await pool.connect();
      const text = await runOneFlight(client, statement, statementOf(operation), values);
      client.release();
      const body = Buffer.from(`{"data":${answer(text)}}`);
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
      response.end(body);
    });
  });
  server.listen(0, '127.0.0.1', () => console.log(`listening ${(server.address() as AddressInfo).port}`));
}
