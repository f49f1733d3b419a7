/** The programs of the studio's page API docs, run as they stand with the clients as they are published. */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClientName, codeOf } from '../../src/studio/app/shared/client-code.ts';
import { clientsDirectory, installClients, localKeys, runTool } from '../support/clients.ts';
import { testGateway } from '../support/gateway.ts';
import { anonKey, serviceKey } from '../support/http.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

/** Inside, so that the programs find the clients; git ignores it. */
const folder = join(clientsDirectory, 'dist/api-docs');

const read = (name: string) => readFileSync(join(clientsDirectory, '../shop', name), 'utf8');

let database: TestDatabase;
let url: string;
let keys: Readonly<Record<string, string>>;

beforeAll(async () => {
  installClients();
  keys = await localKeys();
  database = await createDatabase(read('schema.sql'), read('data.sql'));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}, 300_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const query = `query ProductRows {
  productCollection(first: 2, filter: { name: { ilike: "%Glass%" } }) {
    edges {
      node {
        name
      }
    }
  }
}`;
const mutation = `mutation ProductChange {
  updateProductCollection(set: { name: "A \\"new\\" $name" }, filter: { id: { eq: "-1" } }) {
    affectedCount
  }
}`;

async function runProgram(client: ClientName, text: string): Promise<string> {
  if (client === 'python') return (await promisify(execFile)('python3', ['-c', text], { env: environment() })).stdout;
  if (client === 'relay') return runRelay(text);
  writeFileSync(join(folder, 'program.mjs'), text);
  return runTool(folder, 'node', ['program.mjs'], environment());
}

const environment = () => ({ ...keys, SERVICE_KEY: serviceKey, PATH: process.env.PATH ?? '' });

/** As an application does: relay-compiler reads the file, and a plugin replaces its tag. */
async function runRelay(text: string): Promise<string> {
  const [, name = ''] = /^\/\/ (\w+)\.js/.exec(text) ?? [];
  const headers = { apikey: serviceKey };
  const schema = await (await fetch(`${url}/graphql/v1/schema.graphql?role=service_role`, { headers })).text();
  writeFileSync(join(folder, 'schema.graphql'), schema);
  writeFileSync(join(folder, `${name}.ts`), text);
  copyFileSync(join(clientsDirectory, 'relay/compile-tags.ts'), join(folder, 'compile-tags.ts'));
  const schemaConfig = { nodeInterfaceIdField: 'nodeId', nodeInterfaceIdVariableName: 'nodeId' };
  const config = {
    src: '.',
    schema: './schema.graphql',
    language: 'typescript',
    eagerEsModules: true,
    schemaConfig,
    useImportTypeSyntax: true,
    excludes: [],
  };
  writeFileSync(join(folder, 'relay.config.json'), JSON.stringify(config));
  await runTool(folder, 'relay-compiler', ['relay.config.json', '--output', 'quiet-with-errors'], environment());
  return runTool(folder, 'node', ['--import', './compile-tags.ts', `${name}.ts`], environment());
}

test.each(['supabase-js', 'graphql-request', 'apollo', 'urql', 'relay', 'python'] as const)(
  'the programs for %s run as they stand: a query of a visitor, a mutation of a server',
  async (client) => {
    ({ url } = await testGateway(database));
    const seen = await runProgram(client, codeOf(client, { url, anonKey, caller: 'anon', query }));
    expect(seen).toContain('Plain Glass Bag');
    const written = await runProgram(client, codeOf(client, { url, anonKey, caller: 'service', query: mutation }));
    expect(written).toMatch(/affectedCount'?:\s*0/);
    const own = await runProgram(client, codeOf(client, { url, anonKey, caller: 'user', query }));
    expect(own).toContain('Plain Glass Bag');
  },
  120_000,
);
