/** `pgreflect check --documents`: the documents of clients against the schema of each role. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createDatabase } from '../support/postgres.ts';
import { runCommand, temporaryDirectory } from './run-command.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create table note (id int primary key, body text, secret text);
  grant select (id, body) on note to anon; grant select on note to authenticated;
`);
const env = { DATABASE_URL: database.urlAs('authenticator', 'test'), PGREFLECT_SCHEMAS: 'public' };

function checkIn(directory: string, args: readonly string[]) {
  return runCommand(['check', '--documents', ...args], { env, directory });
}

test('documents are checked for each role, with file, line and column of what does not fit', async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'src'));
  const files = {
    'fits.graphql': 'query Fits { noteCollection { edges { node { ...Parts } } } }',
    'parts.graphql': 'fragment Parts on Note {\n  id\n  secret\n}',
    'old.graphql': 'query Old($a: Int!) {\n  noteCollection(first: $a) { edges { node { title } } }\n}',
    'typo.graphql': '{',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, 'src', name), text);
  const { code, out } = await checkIn(directory, ['src']);
  expect([code, out]).toMatchInlineSnapshot(`
    [
      1,
      "error    document_invalid (3)
      src/typo.graphql:1:2: Syntax Error: Expected Name, found <EOF>.
      src/parts.graphql:3:3: Cannot query field "secret" on type "Note". (role anon)
      src/old.graphql:2:46: Cannot query field "title" on type "Note".

    3 errors, 0 warnings, 0 notes.
    ",
    ]
  `);
  const one = await checkIn(directory, ['src/parts.graphql', '--role', 'authenticated']);
  expect([one.code, one.out]).toMatchInlineSnapshot(`
    [
      0,
      "note     role_summary (1)
      Role "authenticated" can run 1 document.

    0 errors, 0 warnings, 1 note.
    ",
    ]
  `);
  const sarif = JSON.parse((await checkIn(directory, ['src', '--format', 'sarif'])).out);
  expect(sarif.runs[0].results[0].locations).toMatchInlineSnapshot(`
    [
      {
        "physicalLocation": {
          "artifactLocation": {
            "uri": "src/typo.graphql",
          },
          "region": {
            "startColumn": 2,
            "startLine": 1,
          },
        },
      },
    ]
  `);
});

test('documents of a manifest are named by their ids', async () => {
  const directory = temporaryDirectory();
  writeFileSync(
    join(directory, 'all.json'),
    JSON.stringify({ abc: '{ noteCollection { edges { node { nodeid } } } }' }),
  );
  const { code, out } = await checkIn(directory, ['all.json', '--role', 'anon']);
  expect([code, out]).toMatchInlineSnapshot(`
    [
      1,
      "error    document_invalid (1)
      all.json: document abc, 1:35: Cannot query field "nodeid" on type "Note". Did you mean "nodeId"?

    1 error, 0 warnings, 0 notes.
    ",
    ]
  `);
});

test('documents that cannot be read, and a role without documents, are refused', async () => {
  const missing = await checkIn(temporaryDirectory(), ['nowhere']);
  expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('nowhere cannot be read (ENOENT).')]);
  const role = await runCommand(['check', '--role', 'anon'], { env });
  expect([role.code, role.err]).toEqual([1, expect.stringContaining('--role is for --documents alone.')]);
});
