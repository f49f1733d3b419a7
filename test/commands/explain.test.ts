import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { runCommand, temporaryDirectory } from './run-command.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase(`
    create table note (id bigint primary key, body text);
    insert into note select n, 'it''s \\ ' || n from generate_series(1, 10) n;
    grant select, insert on note to anon;
  `);
});

async function explain(query: string, args: readonly string[] = []) {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'query.graphql'), query);
  const env = { DATABASE_URL: database.urlAs('authenticator', 'test') };
  return runCommand(['explain', 'query.graphql', ...args], { env, directory });
}

test('prints a script that gives the answer, and the plan as comments', async () => {
  const query =
    'query ($body: String) { noteCollection(filter: { body: { eq: $body } }) { edges { node { id body } } } }';
  const { code, out } = await explain(query, ['--variables', String.raw`{"body": "it's \\ 7"}`]);
  expect(code).toBe(0);
  expect(out).toMatch(/^-- .*Seq Scan on note/m);
  // The script runs as it is, `rollback` apart, which would leave no rows to look at.
  const rows = await database.query<Record<string, string>>(out.replace(/rollback;\s*$/, ''));
  await database.query('rollback');
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).toContain('7');
});

test('--analyze executes, and leaves no trace', async () => {
  const query = 'mutation { insertIntonoteCollection(objects: [{ id: "11" }]) { affectedCount } }';
  const { code, out } = await explain(query, ['--analyze']);
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('Execution Time') });
  expect(await database.query('select from note where id = 11')).toEqual([]);
});

test('an operation that does not fit the schema is refused with its message', async () => {
  const { code, err } = await explain('{ noteCollection { edges { node { title } } } }');
  expect(code).toBe(1);
  expect(err).toContain('Cannot query field "title"');
});

test('variables must be an object', async () => {
  const { code, err } = await explain('{ __typename }', ['--variables', '{id: 3}']);
  expect(code).toBe(1);
  expect(err).toContain('--variables must be a JSON object.');
});

test('claims that no policy could read are refused', async () => {
  for (const claims of ['admin', '["a"]', '']) {
    const { code, err } = await explain('{ noteCollection { edges { node { id } } } }', ['--claims', claims]);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('--claims must be a JSON object.') });
  }
});

test('the command says that it reads a file where an operation is given in its place', async () => {
  const { code, err } = await runCommand(['explain', '{ noteCollection { edges { cursor } } }'], { env: {} });
  expect([code, err]).toEqual([1, expect.stringContaining('An operation is given where explain reads a file.')]);
});
