import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildClientSchema, buildSchema, type IntrospectionQuery, printSchema, validateSchema } from 'graphql';
import { beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { runCommand, startCommand, temporaryDirectory } from './run-command.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase('create table note (id int primary key, body text); grant select on note to anon');
});

function schema(args: readonly string[], directory?: string) {
  const env = { DATABASE_URL: database.urlAs('authenticator', 'test') };
  return runCommand(['schema', ...args], directory === undefined ? { env } : { env, directory });
}

test("prints the anon role's schema, though introspection is off", async () => {
  const { code, out } = await schema([]);
  expect(code).toBe(0);
  expect(Object.keys(buildSchema(out).getQueryType()?.getFields() ?? {})).toContain('noteCollection');
});

test('--role prints what another role sees', async () => {
  const { out } = await schema(['--role', 'authenticated']);
  expect(out).not.toContain('noteCollection');
});

test('--json prints an introspection result', async () => {
  const { out } = await schema(['--json']);
  const { data } = JSON.parse(out) as { data: IntrospectionQuery };
  expect(buildClientSchema(data).getType('note')).toBeDefined();
});

test('--check succeeds on what --out wrote, and says where a changed schema differs', async () => {
  const directory = temporaryDirectory();
  await schema(['--out', 'schema.graphql'], directory);
  expect((await schema(['--check', 'schema.graphql'], directory)).code).toBe(0);
  await database.query('alter table note add column title text; grant select on note to anon');
  try {
    const { code, err } = await schema(['--check', 'schema.graphql'], directory);
    expect(code).toBe(1);
    expect(err).toMatch(/schema.graphql differs from the database at line \d+/);
    expect(err).toContain('title');
    const advice = /To update it, run the same command with (--out \S+) in place of (--check \S+?)\.$/m.exec(err);
    const command = '--role anon --check schema.graphql'.replace(advice![2]!, advice![1]!);
    expect((await schema(command.split(' '), directory)).code).toBe(0);
    expect((await schema(['--check', 'schema.graphql'], directory)).code).toBe(0);
  } finally {
    await database.query('alter table note drop column title');
  }
});

test('a file that cannot be written is reported as a problem', async () => {
  const { code, err } = await schema(['--out', 'nowhere/schema.graphql'], temporaryDirectory());
  expect(code).toBe(1);
  expect(err).toMatch(
    /^There is 1 problem:\n- ".*nowhere\/schema\.graphql.*" cannot be opened \(ENOENT: no such file or directory\)/,
  );
});

test('--watch writes again when the schema changes', async () => {
  const directory = temporaryDirectory();
  const env = { DATABASE_URL: database.urlAs('authenticator', 'test'), PGREFLECT_SCHEMA_POLL_MS: '50' };
  const command = startCommand(['schema', '--watch', '--out', 'schema.graphql'], { env, directory });
  await command.until(/Written to schema.graphql/);
  await database.query('create table tag (id int primary key); grant select on tag to anon');
  await command.until(/Written.*\n.*Written/);
  expect(readFileSync(join(directory, 'schema.graphql'), 'utf8')).toContain('tagCollection');
  command.signal('SIGTERM');
  expect((await command.finished).code).toBe(0);
});

test('a role that does not exist is refused', async () => {
  const { code, err } = await schema(['--role', 'nobody_at_all']);
  expect(code).toBe(1);
  expect(err).toContain('There is no role "nobody_at_all" in the database.');
});

test('a schema that does not exist is refused', async () => {
  const { code, err } = await schema(['--schemas', 'public,nope']);
  expect(code).toBe(1);
  expect(err).toContain('There is no schema "nope" in the database.');
});

test('a file that cannot be written leaves nothing beside it', async () => {
  const directory = temporaryDirectory();
  const work = join(directory, 'work');
  mkdirSync(join(work, 'generated'), { recursive: true });
  for (const [out, said] of [
    ['generated', 'EISDIR'],
    ['', '--out must be the name of a file.'],
  ] as const) {
    expect(await schema(['--out', out], work)).toMatchObject({ code: 1, err: expect.stringContaining(said) });
  }
  expect([readdirSync(directory), readdirSync(work)]).toEqual([['work'], ['generated']]);
});

const queries = {
  'one/notes.graphql': 'query Notes { noteCollection(first: 2) { edges { node { ...Body } } } }',
  'two/body.gql': '# of a component\nfragment Body on note { nodeId body }',
  'two/.hidden/old.graphql': '{ old }',
  'readme.md': '{ old }',
};

function folderOf(files: Readonly<Record<string, string>>): string {
  const directory = temporaryDirectory();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(directory, 'src', dirname(path)), { recursive: true });
    writeFileSync(join(directory, 'src', path), text);
  }
  return directory;
}

test('--documents prints only what the documents of a folder use, fragments of other files included', async () => {
  const directory = folderOf(queries);
  const { code, out } = await schema(['--documents', 'src'], directory);
  expect([code, validateSchema(buildSchema(out))]).toEqual([0, []]);
  expect(out).toMatchInlineSnapshot(`
    """"Reads rows and calls functions that only read."""
    type Query {
      """Rows of note, in pages."""
      noteCollection(
        """The first n rows."""
        first: Int
      ): noteConnection!
    }

    type note {
      """Global id of the row."""
      nodeId: ID!
      body: String
    }

    type noteConnection {
      edges: [noteEdge!]!
    }

    type noteEdge {
      node: note!
    }
    "
  `);
  expect((await schema(['--documents', 'src/one/notes.graphql'], directory)).err).toContain('Unknown fragment "Body"');
  const { out: json } = await schema(['--documents', 'src', '--json'], directory);
  expect(printSchema(buildClientSchema(JSON.parse(json).data))).toBe(out.trim());
});

test('--documents names file, line and column of each mistake', async () => {
  const files = {
    'a.graphql': '{\n  noteCollection { totl }\n}',
    'b.graphql': 'query {',
    'c.graphql': queries['two/body.gql'],
  };
  const { code, err } = await schema(['--documents', 'src'], folderOf({ ...queries, ...files }));
  expect([code, err.match(/^- .*$/gm)]).toEqual([
    1,
    [
      '- src/b.graphql:1:8: Syntax Error: Expected Name, found <EOF>.',
      '- src/two/body.gql:2:10: Another fragment is named "Body", in src/c.graphql.',
      '- src/a.graphql:2:20: Cannot query field "totl" on type "noteConnection".',
    ],
  ]);
  const empty = await schema(['--documents', 'src'], folderOf({ 'readme.md': '' }));
  expect(empty).toMatchObject({ code: 1, err: expect.stringContaining('src has no file that ends in .graphql') });
});
