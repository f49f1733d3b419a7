import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { testGateway } from '../support/gateway.ts';
import { token } from '../support/http.ts';
import { createDatabase } from '../support/postgres.ts';

const root = join(import.meta.dirname, '../..');
const file = (path: string) => readFileSync(join(root, path), 'utf8');

const database = await createDatabase(file('examples/shop/schema.sql'), file('examples/shop/data.sql'));

/** What `# name: {...}` says in the comments of an operation. */
function note(operation: string, name: string): string | undefined {
  return operation.match(new RegExp(`^# ${name}: (.*)$`, 'm'))?.[1];
}

test('every example operation answers without an error, with data in it', async () => {
  const gateway = await testGateway(database);
  for (const name of readdirSync(join(root, 'examples/shop/queries'))) {
    const operation = file(`examples/shop/queries/${name}`);
    const role = note(operation, 'role');
    const claims = JSON.parse(note(operation, 'claims') ?? '{}') as object;
    const bearer = role === undefined ? {} : { authorization: `Bearer ${await token({ role, ...claims })}` };
    const variables: unknown = JSON.parse(note(operation, 'variables') ?? '{}');
    const { body } = await gateway.ask(operation, { variables, headers: bearer });
    expect(body.errors, name).toBeUndefined();
    expect(JSON.stringify(body.data), name).not.toMatch(
      /"(?:productCollection|postCollection|orderCollection)": ?\{"(?:edges|nodes)": ?\[\]/,
    );
    const golden = join(root, 'test/golden/examples', name.replace('.graphql', '.json'));
    await expect(`${JSON.stringify(body, null, 2)}\n`, name).toMatchFileSnapshot(golden);
  }
});

test('a visitor does not learn that orders exist', async () => {
  const gateway = await testGateway(database);
  const { body } = await gateway.ask('{ orderCollection { totalCount } }');
  expect(body.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
  expect(body.errors[0].message).toContain('orderCollection');
});
