/** The last requests of a gateway, read by somebody who may not, or who looks for what clients have sent. */
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { accessScopes } from '../../src/management/tokens/access-tokens.ts';
import { addToken, type ManagedGateway, managedGateway, ref } from '../management/management.ts';
import { anonKey, serviceKey, token as signed } from '../support/http.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
let operator: string;
let managed: ManagedGateway;

beforeAll(async () => {
  database = await createAuthDatabase();
  await database.query(`create table public.note (id int primary key, body text); grant all on public.note to anon`);
  operator = await addToken(database, { scopes: ['project:operate'] });
});

beforeEach(async () => {
  managed = await managedGateway(database, operator, { managementRateLimit: null, accessToken: null });
});

const read = (what: string, as: string | null, of = ref) =>
  managed.call({ path: `/v1/projects/${of}/${what}`, token: as === null ? null : `Bearer ${as}` });

test('the last requests, the last hour, the health and the findings of check are for tokens of the project with the scope project:operate alone', async () => {
  const lesser = await addToken(database, { scopes: accessScopes.filter((scope) => scope !== 'project:operate') });
  const elsewhere = await addToken(database, { scopes: accessScopes, projectRef: 'z'.repeat(20) });
  const expired = await addToken(database, { scopes: accessScopes, expiresAt: new Date(Date.now() - 1000) });
  const user = await signed({ sub: 'a', role: 'authenticated' });
  for (const what of ['requests', 'usage', 'health', 'check']) {
    const refusals = [
      [null, 401],
      ['', 401],
      [anonKey, 401],
      [serviceKey, 401],
      [user, 401],
      [expired, 401],
      [lesser, 403],
      [elsewhere, 403],
    ] as const;
    for (const [as, status] of refusals) {
      const answer = await read(what, as);
      expect([answer.status, Object.keys(answer.body)], `${what} ${status}`).toEqual([status, ['message', 'code']]);
    }
    expect((await read(what, operator, 'z'.repeat(20))).status).toBe(404);
    expect((await read(what, operator)).status).toBe(200);
  }
});

test('the last requests have nothing that clients sent: no value, document, address, key or token', async () => {
  const { url } = managed.gateway;
  const key = await signed({ sub: 'secret-subject', role: 'authenticated', email: 'secret@x.test' });
  const headers = { apikey: anonKey, 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.77' };
  const post = (path: string, body: unknown, more = {}) =>
    fetch(`${url}${path}`, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) });
  await post('/graphql/v1', {
    query: 'query Named($v: String) { noteCollection(filter: { body: { eq: $v } }) { edges { node { id } } } }',
    variables: { v: 'secret-variable' },
  });
  await post('/graphql/v1', { query: '{ noteCollection(filter: { body: { eq: "secret-literal" } }) { none } }' });
  await post('/graphql/v1?secret-query', { query: '{ __typename }' }, { authorization: `Bearer ${key}` });
  await post('/graphql/v1', { query: '{ __typename }', operationName: 'secret name\u001b[31m' });
  await post('/graphql/v1', { query: '{ __typename }' }, { 'x-request-id': 'secret id\u00e9 with spaces' });
  await post('/auth/v1/signup', { email: 'secret@x.test', password: 'secret-password' });
  await post('/auth/v1/token?grant_type=password', { email: 'secret@x.test', password: 'secret-wrong' });
  await fetch(`${url}/auth/v1/verify?token=secret-token&type=signup`, { redirect: 'manual' });
  await fetch(`${url}/secret-path/${key}`);
  await fetch(`${url}/auth/v1/admin/users/secret-user`, { headers: { authorization: `Bearer ${serviceKey}` } });
  const { text, count } = await vi.waitFor(async () => {
    const { body } = await read('requests?limit=500', operator);
    expect(body.requests.filter(({ path }: { path: string }) => path === '/auth/v1/admin/users/:id')).not.toEqual([]);
    return {
      text: JSON.stringify(body) + JSON.stringify((await read('usage', operator)).body),
      count: body.requests.length,
    };
  });
  expect(count).toBeGreaterThanOrEqual(10);
  expect(text).toContain('"operation":"Named"');
  expect(text).not.toMatch(/secret|203\.0\.113|127\.0\.0\.1|::1|eyJ|sbp_|noteCollection|body":"|\\u001b/);
});

test('the messages of errors are told in names alone: no literal, variable, key of one, token or text of a function', async () => {
  await database.query(`
    create type public.mood as enum ('calm');
    create domain public.even as int constraint even_check check (value % 2 = 0);
    create table public.task (id int primary key, title varchar(20) not null, mood mood, due date, half even, tags int[]);
    alter table public.task enable row level security;
    create policy own on public.task to anon using (true) with check (title not like 'refused%');
    grant all on public.task to anon;
    create function public.shout(what text) returns text volatile language plpgsql as
      $$ begin raise exception 'We do not like %', what using errcode = 'check_violation'; end $$;
    create function public.forge(what text) returns text volatile language plpgsql as
      $$ begin raise exception 'permission denied for table %', what using errcode = '42501'; end $$;
    insert into public.task (id, title) values (1, 'secretrow');
    notify pgreflect`);
  const { url } = managed.gateway;
  const secret = 'hunter2_secret';
  const send = (query: string, variables = {}, more = {}) =>
    fetch(`${url}/graphql/v1`, {
      method: 'POST',
      headers: { apikey: anonKey, 'content-type': 'application/json', ...more },
      body: JSON.stringify({ query, variables }),
    }).then((response) => response.json());
  await vi.waitFor(async () =>
    expect((await send('{ taskCollection { edges { node { id } } } }')).errors).toBeUndefined(),
  );
  const filter = (value: string) => `{ taskCollection(filter: ${value}) { edges { node { id } } } }`;
  const insert = 'mutation ($o: [taskInsertInput!]!) { insertIntotaskCollection(objects: $o) { affectedCount } }';
  const wrong: [string, object?, object?][] = [
    [`{ taskCollection { edges { node { titel } } } }`],
    [`{ taskCollection(first: "${secret}") { edges { node { id } } } }`],
    [`{ taskCollection(first: ${secret}) { edges { node { id } } } }`],
    [`{ taskCollection { edges { node { id } } } "${secret}" }`],
    [`{ taskCollection { edges ${secret}("x) { node { id } } } }`],
    [`"${secret}`],
    [filter(`"${secret}"`)],
    [filter(`{ title: "${secret}" }`)],
    [filter(`{ title: { eq: ${secret} } }`)],
    [filter(`{ mood: { eq: ${secret} } }`)],
    [filter(`{ mood: { eq: "${secret}" } }`)],
    [filter(`{ due: { eq: "${secret}" } }`)],
    [filter(`{ id: { eq: 98765432109876 } }`)],
    [`query ($f: taskFilter) { taskCollection(filter: $f) { edges { node { id } } } }`, { f: secret }],
    [`query ($f: taskFilter) { taskCollection(filter: $f) { edges { node { id } } } }`, { f: { [secret]: 1 } }],
    [`query ($f: taskFilter) { taskCollection(filter: $f) { edges { node { id } } } }`, { f: { id: { [secret]: 1 } } }],
    [`query ($f: taskFilter) { taskCollection(filter: $f) { edges { node { id } } } }`, { f: { id: { eq: secret } } }],
    [
      `query ($f: taskFilter) { taskCollection(filter: $f) { edges { node { id } } } }`,
      { f: { mood: { eq: secret } } },
    ],
    [`query ($f: Int = "${secret}") { taskCollection(first: $f) { edges { node { id } } } }`],
    [`query ($a: Cursor) { taskCollection(after: $a) { edges { node { id } } } }`, { a: secret }],
    [`{ node(nodeId: "${secret}") { nodeId } }`],
    [insert, { o: [{ id: 1, title: secret }] }],
    [insert, { o: [{ id: 2 }] }],
    [insert, { o: [{ id: 2, title: `${secret} ${secret} ${secret}` }] }],
    [insert, { o: [{ id: 2, title: 'refused_secret' }] }],
    [insert, { o: [{ id: 2, title: 'a', half: 98765431 }] }],
    [insert, { o: [{ id: 2, title: 'a', due: secret }] }],
    [insert, { o: [{ id: 2, title: 'a', mood: secret }] }],
    [insert, { o: [{ id: 98765432109876, title: 'a' }] }],
    [insert, { o: [{ id: 2, title: `a\u0000${secret}` }] }],
    [`mutation { shout(what: "${secret}") }`],
    [`mutation { forge(what: "${secret}") }`],
    ['{ __typename }', {}, { authorization: `Bearer ${await signed({ sub: 'a', role: secret })}` }],
    ['{ __typename }', {}, { authorization: `Bearer ${secret}` }],
    ['{ __typename }', {}, { apikey: secret }],
    ['{ __typename }', {}, { 'content-type': `text/${secret}` }],
  ];
  const before = (await read('requests?limit=500&path=/graphql/v1', operator)).body.requests.length;
  for (const [query, variables, more] of wrong) {
    const answer = await send(query, variables, more);
    expect(answer.errors ?? answer.message, query).toBeDefined();
  }
  const { requests } = await vi.waitFor(async () => {
    const { body } = await read('requests?limit=500&path=/graphql/v1', operator);
    expect(body.requests.length).toBe(before + wrong.length);
    return body;
  });
  expect(JSON.stringify(requests)).not.toMatch(/hunter2|secret|98765|refused_|eyJ/);
  const told = requests.slice(0, wrong.length).reverse();
  expect(
    told.map(({ codes, messages }: { codes: string[]; messages: string[] }) => [...codes, ...messages].join(': ')),
  ).toMatchInlineSnapshot(`
    [
      "GRAPHQL_VALIDATION_FAILED: Cannot query field "titel" on type "task". (line 1, column 35)",
      "GRAPHQL_VALIDATION_FAILED: Int cannot represent non-integer value: … (line 1, column 25)",
      "GRAPHQL_VALIDATION_FAILED: Int cannot represent non-integer value: … (line 1, column 25)",
      "GRAPHQL_PARSE_FAILED: Syntax Error: Expected Name, found String … (line 1, column 44)",
      "GRAPHQL_PARSE_FAILED: Syntax Error: Unterminated string. (line 1, column 64)",
      "GRAPHQL_PARSE_FAILED: Syntax Error: Unterminated string. (line 1, column 16)",
      "GRAPHQL_VALIDATION_FAILED: Expected value of type "taskFilter" to be an object, found: … (line 1, column 26)",
      "GRAPHQL_VALIDATION_FAILED: Expected value of type "StringFilter" to be an object, found: … (line 1, column 35)",
      "GRAPHQL_VALIDATION_FAILED: String cannot represent a non string value: … (line 1, column 41)",
      "GRAPHQL_VALIDATION_FAILED: Value … does not exist in "mood" enum. (line 1, column 40)",
      "GRAPHQL_VALIDATION_FAILED: Value … does not exist in "mood" enum. (line 1, column 40)",
      "BAD_USER_INPUT: The time zone … does not exist.",
      "GRAPHQL_VALIDATION_FAILED: Int cannot represent non 32-bit signed integer value: … (line 1, column 38)",
      "BAD_USER_INPUT: Variable "$f" has invalid value: Expected value of type "taskFilter" to be an object, found: … (line 1, column 8)",
      "BAD_USER_INPUT: Variable "$f" has invalid value: Expected value of type "taskFilter" not to include unknown field … (line 1, column 8)",
      "BAD_USER_INPUT: Variable "$f" has invalid value at .id: Expected value of type "IntFilter" not to include unknown field … (line 1, column 8)",
      "BAD_USER_INPUT: Variable "$f" has invalid value at .id.eq: Int cannot represent non-integer value: … (line 1, column 8)",
      "BAD_USER_INPUT: Variable "$f" has invalid value at .mood.eq: Value … does not exist in "mood" enum. (line 1, column 8)",
      "GRAPHQL_VALIDATION_FAILED: Int cannot represent non-integer value: … (line 1, column 18)",
      "BAD_USER_INPUT: The cursor cannot be decoded. (line 1, column 22)",
      "BAD_USER_INPUT: Invalid nodeId. (line 1, column 3)",
      "CONSTRAINT_VIOLATION: duplicate key value violates unique constraint "task_pkey"",
      "PERMISSION_DENIED: new row violates row-level security policy for table "task"",
      "BAD_USER_INPUT: Invalid input for String type. Maximum character length 20 (line 1, column 38)",
      "PERMISSION_DENIED: new row violates row-level security policy for table "task"",
      "CONSTRAINT_VIOLATION: value for domain even violates check constraint "even_check"",
      "BAD_USER_INPUT: The time zone … does not exist.",
      "BAD_USER_INPUT: Variable "$o" has invalid value at [0].mood: Value … does not exist in "mood" enum. (line 1, column 11)",
      "BAD_USER_INPUT: Variable "$o" has invalid value at [0].id: Int cannot represent non 32-bit signed integer value: … (line 1, column 11)",
      "BAD_USER_INPUT",
      "CONSTRAINT_VIOLATION",
      "PERMISSION_DENIED",
      "ROLE_NOT_ALLOWED: The token's role … is not allowed here.",
      "UNAUTHENTICATED: The token could not be verified.",
      "UNAUTHENTICATED: Invalid API key",
      "UNSUPPORTED_MEDIA_TYPE: Send the request as "Content-Type: application/json" in UTF-8.",
    ]
  `);
});

test('requests that claim to be of the studio, or flood the list, do not hide that somebody tries passwords', async () => {
  const { url } = managed.gateway;
  const guess = (path: string) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { apikey: anonKey, 'content-type': 'application/json', 'x-pgreflect-studio': '1' },
      body: JSON.stringify({ email: 'ana@x.test', password: 'guessed' }),
    });
  const failures = async () => {
    const { body } = await read('usage', operator);
    return body.minutes.reduce((sum: number, { authFailures }: { authFailures: number }) => sum + authFailures, 0);
  };
  const before = await failures();
  await guess('/auth/v1/token?grant_type=password');
  for (let sent = 0; sent < 510; sent += 1) await fetch(`${url}/nowhere`);
  await vi.waitFor(async () => expect(await failures()).toBe(before + 1));
});
