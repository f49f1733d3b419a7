/**
 * Mutations through the whole gateway: what the bytes of a body may and may not hold.
 */
import { beforeEach, expect, test } from 'vitest';
import { testGateway } from '../support/gateway.ts';
import { anonKey } from '../support/http.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  create table entry (id bigint primary key, body text, data jsonb, tags text[]);
  create function fail_late() returns trigger language plpgsql as $$ begin raise exception 'too late' using hint = 'Be earlier.'; end $$;
  create constraint trigger fail_late after insert on entry deferrable initially deferred for each row when (new.body = 'late') execute function fail_late();
  grant all on entry to anon;
`);
const insert =
  'mutation ($o: [entryInsertInput!]!) { insertIntoentryCollection(objects: $o) { records { id body data } } }';
const entries = () => database.query('select id::text, body from entry order by id');

beforeEach(() => database.query('truncate entry'));

async function send(body: string | Uint8Array<ArrayBuffer>) {
  const gateway = await testGateway(database);
  const response = await fetch(`${gateway.url}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: anonKey, 'content-type': 'application/json' },
    body,
  });
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  return { status: response.status, body: (await response.json()) as any };
}

const bodyOf = (variables: string) => `{"query": ${JSON.stringify(insert)}, "variables": ${variables}}`;

test('integers beyond 2^53 keep all digits on their way through JSON', async () => {
  const { body } = await send(bodyOf('{"o": [{"id": 9007199254740993}, {"id": -9223372036854775808}]}'));
  expect(body).toEqual({
    data: {
      insertIntoentryCollection: {
        records: [
          { id: '9007199254740993', body: null, data: null },
          { id: '-9223372036854775808', body: null, data: null },
        ],
      },
    },
  });
});

test('a whole number in another notation that lost digits is refused', async () => {
  const { body } = await send(bodyOf('{"o": [{"id": 9.007199254740993e15}, {"id": 1e30}]}'));
  expect(body).not.toHaveProperty('data');
  expect(body.errors[0].message).toContain('Pass it as a string of digits');
  expect(await entries()).toEqual([]);
});

test('text outside the basic plane and escapes of JSON arrive as they are', async () => {
  const { body } = await send(
    bodyOf('{"o": [{"id": 1, "body": "\\ud83d\\ude00 \\u2028 \\\\ \\" é", "data": "{\\"k\\": \\"\\\\u00e9\\"}"}]}'),
  );
  expect(body.data.insertIntoentryCollection.records).toEqual([
    { id: '1', body: '😀 \u2028 \\ " é', data: '{"k": "é"}' },
  ]);
});

test.each([
  [
    'NUL in text',
    '{"o": [{"id": 1}, {"id": 2, "body": "a\\u0000"}]}',
    'Variable "$o[1].body" holds the character U+0000, which PostgreSQL cannot store.',
  ],
  [
    'NUL in a list',
    '{"o": [{"id": 1, "tags": ["a", "\\u0000"]}]}',
    'Variable "$o[0].tags[1]" holds the character U+0000, which PostgreSQL cannot store.',
  ],
  [
    'half a character',
    '{"o": [{"id": 1, "body": "\\ud83d"}]}',
    'Variable "$o[0].body" holds half of a surrogate pair, which PostgreSQL cannot store.',
  ],
])('%s is a clear error that names its place', async (_name, variables, message) => {
  const { status, body } = await send(bodyOf(variables));
  expect({ status, body }).toEqual({
    status: 200,
    body: { errors: [{ message, extensions: { code: 'BAD_USER_INPUT' } }] },
  });
  expect(await entries()).toEqual([]);
});

test('NUL in a jsonb document is a clear error, and the gateway goes on', async () => {
  const gateway = await testGateway(database);
  const variables = { o: [{ id: '1', data: '{"a": "\\u0000"}' }] };
  for (let repetition = 0; repetition < 20; repetition++) {
    const { body } = await gateway.ask(insert, { variables });
    expect(body).toMatchObject({
      data: null,
      errors: [
        {
          path: ['insertIntoentryCollection'],
          extensions: { code: 'BAD_USER_INPUT', sqlstate: '22P05', hint: expect.stringContaining('U+0000') },
        },
      ],
    });
  }
  const { body } = await gateway.ask(insert, { variables: { o: [{ id: '1', data: '{}' }] } });
  expect(body.data.insertIntoentryCollection.records).toEqual([{ id: '1', body: null, data: '{}' }]);
});

test('bytes that are not UTF-8 are refused, whatever stands around them', async () => {
  const bytes = Buffer.from(bodyOf('{"o": [{"id": 1, "body": "a?b"}]}'));
  bytes[bytes.indexOf('a?b') + 1] = 0xff;
  const { status, body } = await send(new Uint8Array(bytes));
  expect(status).toBe(400);
  expect(body.errors[0]).toMatchObject({
    message: 'The request body is not valid UTF-8.',
    extensions: { code: 'BAD_REQUEST' },
  });
  expect(await entries()).toEqual([]);
});

test('what fails at the commit is an error and not half an answer', async () => {
  const { status, body } = await send(bodyOf('{"o": [{"id": 1}, {"id": 2, "body": "late"}]}'));
  expect(status).toBe(200);
  expect(body).toEqual({
    data: null,
    errors: [{ message: 'too late', extensions: { code: 'RAISED', sqlstate: 'P0001', hint: 'Be earlier.' } }],
  });
  expect(await entries()).toEqual([]);
});
