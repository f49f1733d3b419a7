/**
 * A caller sends documents of its own to a gateway with `--trusted-only`, in every way that a request may have: none runs, no row is
 * written, and no answer holds one.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { testGateway } from '../support/gateway.ts';
import { anonKey, serviceKey, token } from '../support/http.ts';
import { overEvents, overSocket } from '../support/live.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true, "introspection": true})';
  create table note (id int primary key, body text default 'hidden words');
  grant all on note to anon, authenticated, service_role;
`);
const trusted = 'query Ids { noteCollection { edges { node { id } } } }\nquery Count { __typename }\n';
const live = 'subscription { noteCollection { edges { node { id } } } }';
const fragment = 'fragment Row on Note { id }';
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
const hash = hashOf(trusted);
const directory = mkdtempSync(join(tmpdir(), 'pgreflect-trusted-'));
writeFileSync(join(directory, 'ids.graphql'), trusted);
writeFileSync(join(directory, 'row.graphql'), fragment);
writeFileSync(join(directory, 'live.graphql'), live);
const started: (() => unknown)[] = [() => rmSync(directory, { recursive: true })];
const gateway = await testGateway(
  database,
  { trustedDocuments: directory, trustedOnly: true, liveIntervalMs: 100 },
  (stop) => started.unshift(stop),
);
afterAll(async () => {
  for (const stop of started) await stop();
});
beforeEach(() => database.query(`truncate note; insert into note values (1)`));

const read = '{ noteCollection { edges { node { body } } } }';
const write = 'mutation { insertIntoNoteCollection(objects: [{ id: 2 }]) { records { body } } }';
const persisted = (sha256Hash: unknown) => ({ persistedQuery: { version: 1, sha256Hash } });

interface Sent {
  readonly body?: string | FormData;
  readonly type?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

async function send({ body, type = 'application/json', query, headers }: Sent) {
  const response = await fetch(`${gateway.url}/graphql/v1${query ? `?${new URLSearchParams(query)}` : ''}`, {
    method: query ? 'GET' : 'POST',
    headers: { apikey: anonKey, ...(!query && typeof body === 'string' && { 'content-type': type }), ...headers },
    ...(body !== undefined && { body }),
  });
  return { status: response.status, text: await response.text() };
}

async function expectRefused(sent: Sent, code: RegExp = /"code":"(DOCUMENT_NOT_TRUSTED|BAD_REQUEST)"/) {
  const { status, text } = await send(sent);
  expect([sent, status, text]).toEqual([sent, expect.any(Number), expect.stringMatching(code)]);
  expect(text).not.toContain('hidden words');
  expect(text).not.toContain('"data":{');
  expect(await database.query('select id from note')).toEqual([{ id: 1 }]);
}

const json = (body: unknown) => ({ body: JSON.stringify(body) });
const form = (operations: unknown) => {
  const data = new FormData();
  data.set('operations', JSON.stringify(operations));
  data.set('map', '{}');
  return data;
};

test('a document that is not trusted is refused in every way that a request may be sent', async () => {
  for (const query of [read, write]) {
    for (const sent of [
      json({ query }),
      json([{ query }]),
      json([{ documentId: hash, operationName: 'Count' }, { query }]),
      { body: new URLSearchParams({ query }).toString(), type: 'application/x-www-form-urlencoded' },
      { body: query, type: 'application/graphql' },
      { body: form({ query }) },
      { query: { query } },
      { query: { query, documentId: hash } },
      { ...json({ query }), headers: { accept: 'text/event-stream' } },
      { ...json({ query }), headers: { accept: 'multipart/mixed' } },
      { ...json({ query }), headers: { authorization: `Bearer ${await token({ role: 'authenticated', sub: 'a' })}` } },
    ]) {
      // In a batch, the trusted one before it is answered.
      if ('body' in sent && sent.body === JSON.stringify([{ documentId: hash, operationName: 'Count' }, { query }])) {
        const { text } = await send(sent);
        expect(JSON.parse(text)).toMatchObject([
          { data: {} },
          { errors: [{ extensions: { code: 'DOCUMENT_NOT_TRUSTED' } }] },
        ]);
        expect(await database.query('select id from note')).toEqual([{ id: 1 }]);
      } else await expectRefused(sent);
    }
  }
  expect((await send(json({ query: read }))).status).toBe(400);
  expect((await send(json([{ query: read }, { query: read }]))).status).toBe(400);
});

test('an id does not make another document trusted', async () => {
  const own = hashOf(read);
  for (const body of [
    { query: read, documentId: hash },
    { query: read, documentId: own },
    { query: read, extensions: persisted(hash) },
    { query: read, extensions: persisted(own) },
    { query: read, extensions: { ...persisted(hash), documentId: hash } },
    { query: read, documentId: hash, extensions: persisted(own) },
    { query: read, documentId: [hash] },
    { query: read, extensions: persisted({ toString: hash }) },
    { query: [read], documentId: hash },
  ]) {
    await expectRefused(json(body));
  }
});

test('an id of another spelling names nothing', async () => {
  const names = [
    hash.toUpperCase(), `SHA256:${hash}`, `sha256:sha256:${hash}`, ` ${hash}`, `${hash}\n`, `md5:${hash}`, hash.slice(0, 63),
    'ids', 'ids.graphql', '../ids.graphql', join(directory, 'ids.graphql'), '__proto__', 'constructor', '', 'sha256:',
  ]; // biome-ignore format: a list
  for (const documentId of names) {
    await expectRefused(json({ documentId }), /PERSISTED_QUERY_NOT_FOUND/);
    await expectRefused(json({ extensions: persisted(documentId) }), /PERSISTED_QUERY_NOT_FOUND/);
  }
});

test('a trusted document with other characters, fragments or operations is another one', async () => {
  for (const query of [
    `${trusted}# ${read}`,
    trusted.trim(),
    trusted.replaceAll(' ', '  '),
    `\ufeff${trusted}`,
    `${trusted}${read.replace('{', 'query Other {')}`,
    `${fragment} query { noteCollection { edges { node { ...Row } } } }`,
    trusted.replace('id', 'body'),
    trusted.replace('Count', 'Ids2'),
  ]) {
    await expectRefused(json({ query, operationName: 'Ids' }));
  }
  await expectRefused(json({ documentId: hash, operationName: 'Other' }), /OPERATION_NOT_FOUND/);
  await expectRefused(json({ documentId: hash }), /OPERATION_NOT_FOUND/);
  const { text } = await send(json({ query: trusted, operationName: 'Ids' }));
  expect(text).toBe('{"data":{"noteCollection":{"edges":[{"node":{"id":1}}]}}}');
});

test('introspection is refused like others, and the service role runs any document', async () => {
  await expectRefused(json({ query: '{ __schema { types { name } } }' }));
  await expectRefused(json({ query: '{ __typename }' }));
  const { body } = await gateway.ask(read, { key: serviceKey });
  expect(body.data.noteCollection.edges).toHaveLength(1);
  expect((await gateway.ask('{ __schema { types { name } } }', { key: serviceKey })).body.errors).toBeUndefined();
});

test.each([
  ['Server-Sent Events', overEvents],
  ['a WebSocket', overSocket],
] as const)('over %s, only trusted subscriptions run, by their text or an id', async (_name, subscribe) => {
  const byId = { documentId: `sha256:${hashOf(live)}` };
  const own = `subscription ${read}`;
  const codes = /DOCUMENT_NOT_TRUSTED|PERSISTED_QUERY_NOT_FOUND|BAD_REQUEST|OPERATION_NOT_FOUND/;
  for (const [query, named] of [
    [own, {}],
    [own, byId],
    [own, { extensions: persisted(hashOf(own)) }],
    [`${live} `, {}],
    [write, {}],
    ['', { documentId: hashOf(own) }],
    ['', { ...byId, operationName: 'Other' }],
  ] as const) {
    const heard = subscribe(gateway.url, { query, named });
    const said = JSON.stringify([await Promise.race([heard.next(), heard.end])]);
    expect([query, named, said]).toEqual([query, named, expect.stringMatching(codes)]);
    expect(said).not.toContain('hidden words');
    heard.stop();
  }
  expect(await database.query('select id from note')).toEqual([{ id: 1 }]);
  const answer = (...ids: number[]) => ({ data: { noteCollection: { edges: ids.map((id) => ({ node: { id } })) } } });
  const open = [
    { query: live },
    { query: '', named: byId },
    { query: '', named: { extensions: persisted(hashOf(live)) } },
  ].map((subscribing) => subscribe(gateway.url, subscribing));
  for (const heard of open) expect(await heard.next()).toEqual(answer(1));
  await database.query('insert into note values (2)');
  for (const heard of open) expect(await heard.next()).toEqual(answer(1, 2));
});
