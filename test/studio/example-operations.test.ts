/**
 * The examples that the page GraphQL makes of a schema, and the statements that it lays out: each is run.
 */
import { readFileSync } from 'node:fs';
import { PostgreSQL } from '@codemirror/lang-sql';
import { buildClientSchema, getIntrospectionQuery } from 'graphql';
import { expect, test } from 'vitest';
import { formatCondition, formatSql } from '../../src/studio/app/components/format-sql.ts';
import { tokensOf } from '../../src/studio/app/components/tokens.ts';
import { exampleOperations, exampleTables } from '../../src/studio/app/shared/example-operations.ts';
import { startExecution } from '../support/execution.ts';
import { createDatabase, fixture, type TestDatabase } from '../support/postgres.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('every example of every table of the shop is answered without an error, and shows every kind of operation; its statement in lines has the same words, and PostgreSQL takes it', async () => {
  const database = await createDatabase(read('examples/shop/schema.sql'), read('examples/shop/data.sql'));
  const { tables, titles, refused, sent } = await runExamples(database, ['public']);
  expect(tables).toHaveLength(14);
  expect(refused).toEqual([]);
  const words = (sql: string) => sql.replace(/\s+/g, '');
  for (const text of sent) {
    const formatted = formatSql(text);
    expect(formatted.split('\n').length).toBeGreaterThan(1);
    expect(words(formatted)).toBe(words(text));
    await database.query(`prepare laid_out as ${formatted}; deallocate laid_out`);
  }
  expect(titles).toEqual([
    'Change a row',
    'Delete a row',
    'Filtered and ordered',
    'First rows',
    'Groups',
    'Insert a row',
    'Number of rows',
    'Page by page',
    'Row by key',
    'Those with most rows that refer to it',
    'With its related row',
    'With rows that refer to it',
  ]);
});

test.each([
  ['check-trading.sql', ['public']],
  ['check-warehouse.sql', ['public', 'catalogue', 'billing']],
  ['mutation-library.sql', ['lib']],
] as const)('every example of other schemas is answered as well: %s', async (name, schemas) => {
  const database = await createDatabase(fixture(name));
  const lists = schemas.join(', ');
  await database.query(
    `grant all on all tables in schema ${lists} to service_role; grant usage on schema ${lists} to service_role`,
  );
  const { tables, refused } = await runExamples(database, schemas);
  expect(tables.length).toBeGreaterThan(2);
  expect(refused).toEqual([]);
});

async function runExamples(database: TestDatabase, schemas: readonly string[]) {
  const { run, statements, data } = await startExecution(database, { introspection: 'always', schemas });
  const schema = buildClientSchema(await data('service_role', getIntrospectionQuery()));
  const tables = exampleTables(schema);
  const titles = new Set<string>();
  const refused: unknown[] = [];
  const sent = new Set<string>();
  for (const table of tables) {
    for (const { title, query } of exampleOperations(schema, table)) {
      titles.add(title);
      const { errors } = await run('service_role', query);
      if (errors !== undefined) refused.push({ query, errors });
      else for (const { text } of await statements('service_role', query)) sent.add(text);
    }
  }
  return { tables, titles: [...titles].sort(), refused, sent };
}

test('examples are made of what the caller sees: no mutation for a role that may not write, none at all without tables', async () => {
  const database = await createDatabase(
    `create table reading (id int primary key, taken_at timestamptz); grant select on reading to anon`,
  );
  const { data } = await startExecution(database, { introspection: 'always' });
  const schemaOf = async (role: string) => buildClientSchema(await data(role, getIntrospectionQuery()));
  const [open, closed] = [await schemaOf('anon'), await schemaOf('service_role')];
  expect(exampleTables(open)).toEqual(['reading']);
  const titles = exampleOperations(open, 'reading').map(({ title }) => title);
  expect(titles).toEqual(['First rows', 'Filtered and ordered', 'Row by key', 'Page by page']);
  expect(exampleTables(closed)).toEqual([]);
  expect(exampleOperations(closed, 'reading')).toEqual([]);
});

test('a statement is colored without a change of its text; what is no SQL stays as it is', () => {
  const text = `select "a" from b where c = 'its' and d > 5`;
  const tokens = tokensOf(text, PostgreSQL.language.parser);
  expect(tokens.map((token) => token.text).join('')).toBe(text);
  expect(tokens.filter(({ kind }) => kind === 'tok-keyword').map((token) => token.text)).toContain('select');
  expect(tokens).toContainEqual({ text: `'its'`, kind: 'tok-string' });
  expect(formatSql("select 'open")).toBe("select 'open");
});

test('a short subquery of a policy stays in its line; a long one, or a text of several lines, keeps its lines', () => {
  const condition = `((owner_id = ( SELECT auth.uid() AS uid)) OR (EXISTS ( SELECT 1 FROM public.member m WHERE (m.user_id = ( SELECT auth.uid() AS uid)))))`;
  expect(`\n${formatCondition(condition)}\n`).toMatchInlineSnapshot(`
    "
    (
        (
          (owner_id = (select auth.uid() as uid))
          or (
            exists (
              select
                1
              from
                public.member m
              where
                (m.user_id = (select auth.uid() as uid))
            )
          )
        )
      )
    "
  `);
  expect(formatSql(`select (select 'it''s  two') as a, (select 'two\nlines') as b`)).toBe(
    `select\n  (select 'it''s  two') as a,\n  (\n    select\n      'two\nlines'\n  ) as b`,
  );
});
