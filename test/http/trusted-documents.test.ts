/** Trusted documents on the whole gateway: named by an id, in every way that a request may be sent, and read again when they change. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { readDocuments } from '../../src/graphql/documents/read-documents.ts';
import { listTrusted } from '../../src/graphql/documents/trusted-list.ts';
import { withoutPauses } from '../../src/shared/slices.ts';
import { testGateway } from '../support/gateway.ts';
import { anonKey } from '../support/http.ts';
import { overSocket } from '../support/live.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create table note (id int primary key, body text);
  insert into note values (1, 'a'), (2, 'b');
  grant all on note to anon;
`);
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
const notes = 'query Notes($first: Int) { noteCollection(first: $first) { edges { node { body } } } }';
const other = '{ noteCollection(first: 1) { edges { node { body } } } }';
const insert = 'mutation Add { insertIntoNoteCollection(objects: [{ id: 3 }]) { affectedCount } }';
const directory = mkdtempSync(join(tmpdir(), 'pgreflect-documents-'));
const manifest = join(directory, 'persisted.json');
const write = (documents: unknown, path = manifest) => {
  writeFileSync(`${path}.new`, typeof documents === 'string' ? documents : JSON.stringify(documents));
  renameSync(`${path}.new`, path);
};
write({ [hashOf(notes)]: notes, 'app/add@1': insert });
const started: (() => unknown)[] = [() => rmSync(directory, { recursive: true })];
const gateway = await testGateway(
  database,
  { trustedDocuments: manifest, getMaxAge: 60, liveIntervalMs: 100 },
  (stop) => started.unshift(stop),
);
afterAll(async () => {
  for (const stop of started) await stop();
});

const persisted = (sha256Hash: string) => ({ persistedQuery: { version: 1, sha256Hash } });
const answer = { data: { noteCollection: { edges: [{ node: { body: 'a' } }] } } };
const variables = { first: 1 };

async function send(body: unknown, type = 'application/json') {
  const response = await fetch(`${gateway.url}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: anonKey, 'content-type': type },
    body: body instanceof URLSearchParams ? String(body) : JSON.stringify(body),
  });
  return { status: response.status, json: await response.json() };
}

async function get(parameters: Readonly<Record<string, string>>) {
  const response = await fetch(`${gateway.url}/graphql/v1?${new URLSearchParams(parameters)}`, {
    headers: { apikey: anonKey },
  });
  return { status: response.status, cached: response.headers.get('cache-control'), json: await response.json() };
}

const messageOf = (json: { readonly errors?: readonly { readonly message: string }[] }) => json.errors?.[0]?.message;

describe('trusted documents', () => {
  test('a trusted document is named by its hash or its id in the manifest, in each way that a request may be sent', async () => {
    for (const request of [
      { documentId: hashOf(notes) },
      { documentId: `sha256:${hashOf(notes)}` },
      { extensions: persisted(hashOf(notes)) },
      { query: notes, extensions: persisted(hashOf(notes)) },
      { query: notes },
    ]) {
      expect(await send({ ...request, variables })).toEqual({ status: 200, json: answer });
    }
    const form = new URLSearchParams({ documentId: hashOf(notes), variables: '{"first":1}' });
    expect((await send(form, 'application/x-www-form-urlencoded')).json).toEqual(answer);
    const batch = [
      { documentId: hashOf(notes), variables },
      { documentId: 'app/add@1', operationName: 'Add' },
      { documentId: 'app/add@2' },
    ];
    expect((await send(batch)).json).toMatchObject([
      answer,
      { data: { insertIntoNoteCollection: { affectedCount: 1 } } },
      { errors: [{ extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }] },
    ]);
  });

  test('a trusted document is named by GET, too, whose answer caches may keep as others', async () => {
    const hash = hashOf(notes);
    for (const named of [{ documentId: `sha256:${hash}` }, { extensions: JSON.stringify(persisted(hash)) }]) {
      const reply = await get({ ...named, variables: '{"first":1}' });
      expect(reply).toEqual({ status: 200, cached: 'public, max-age=60', json: answer });
    }
    expect((await get({ documentId: 'app/add@1' })).status).toBe(405);
    expect(await get({ documentId: 'sha256:ab' })).toMatchObject({ cached: 'no-store' });
  });

  test('an unknown document has the message by which clients send the whole document', async () => {
    const { status, json } = await send({ extensions: persisted('ab') });
    expect([status, messageOf(json)]).toEqual([200, 'PersistedQueryNotFound']);
    expect((await send({ query: other, extensions: persisted(hashOf(other)) })).json).toEqual(answer);
  });

  test('a document and an id beside it are one', async () => {
    for (const request of [
      { query: notes, documentId: 'app/add@1' },
      { query: notes, extensions: persisted('ab') },
      { documentId: hashOf(notes), extensions: persisted('ab') },
      { query: `${notes} `, documentId: hashOf(notes) },
      { documentId: 1 },
      { extensions: { persistedQuery: { sha256Hash: {} } } },
    ]) {
      const { status, json } = await send(request);
      expect([status, json.errors[0].extensions.code]).toEqual([400, 'BAD_REQUEST']);
    }
  });

  test('a trusted document is compiled before it is asked for', async () => {
    const counts = () => gateway.graphql.reflector.current()!.documentCounts;
    const whole = `query Warm { noteCollection(first: 1) { edges { node { body } } } }`;
    await send({ query: other });
    // Two for each of two roles, which see different schemas, and this one.
    await vi.waitFor(() => expect(counts().misses).toBe(5), 20_000);
    write({ [hashOf(notes)]: notes, 'app/add@1': insert, warm: whole });
    await vi.waitFor(() => expect(counts().misses).toBe(7), 20_000);
    expect((await send({ documentId: 'warm' })).json).toEqual(answer);
    expect(counts().misses).toBe(7);
  });
});

test('the list is read again when it changes, and stays as it was while it cannot be read', async () => {
  const found = async (documentId: string) => (await send({ documentId })).json.data !== undefined;
  const warnings = () => gateway.observations.filter(({ kind }) => kind === 'warning');
  write('{"broken": ');
  await vi.waitFor(() => expect(warnings()).toHaveLength(1), 20_000);
  expect(warnings()).toMatchObject([
    { message: expect.stringMatching(/were not read again: .* is not valid JSON\.$/) },
  ]);
  expect(await found(hashOf(notes))).toBe(true);
  write({ other });
  await vi.waitFor(async () => expect(await found('other')).toBe(true), 20_000);
  expect(await found(hashOf(notes))).toBe(false);
});

test('a subscription ends when its id names no subscription any more, and what it names then does not run', async () => {
  const live = 'subscription { noteCollection(first: 1) { edges { node { body } } } }';
  const isListed = (documentId: string) => async () =>
    expect(await codeOf(documentId)).not.toBe('PERSISTED_QUERY_NOT_FOUND');
  const codeOf = async (documentId: string) => (await send({ documentId })).json.errors?.[0].extensions.code;
  write({ 'app/live@1': live, 'app/live@2': live });
  await vi.waitFor(isListed('app/live@2'), 20_000);
  const open = ['app/live@1', 'app/live@2'].map((documentId) =>
    overSocket(gateway.url, { query: '', named: { documentId } }),
  );
  for (const heard of open) expect(await heard.next()).toEqual(answer);
  write({
    'app/live@1': 'mutation { insertIntoNoteCollection(objects: [{ id: 9 }]) { affectedCount } }',
    'app/new': other,
  });
  await vi.waitFor(isListed('app/new'), 20_000);
  await database.query(`update note set body = 'c' where id = 1`);
  const said = await Promise.all(open.map((heard) => Promise.race([heard.next(), heard.end])));
  expect(said.map((each) => JSON.stringify(each))).toEqual([
    expect.stringContaining('no subscription any more'),
    expect.stringContaining('PERSISTED_QUERY_NOT_FOUND'),
  ]);
  await Promise.all(open.map(({ end }) => end));
  expect(await database.query('select id from note where id = 9')).toEqual([]);
});

describe('reading documents', () => {
  const read = (path: string) => withoutPauses(listTrusted(withoutPauses(readDocuments(path))));
  const folder = (files: Readonly<Record<string, string>>) => {
    const root = mkdtempSync(join(tmpdir(), 'pgreflect-documents-'));
    onTestFinished(() => rmSync(root, { recursive: true }));
    mkdirSync(join(root, 'documents', 'deep'), { recursive: true });
    for (const [path, text] of Object.entries(files)) writeFileSync(join(root, 'documents', path), text);
    return join(root, 'documents');
  };

  test('documents of manifests of Relay, graphql-codegen and Apollo keep their ids', () => {
    const path = folder({
      'a.json': JSON.stringify({ '5d41402abc4b2a76b9719d911017c592': notes, 'sha256:ab': insert }),
      'b.json': JSON.stringify({
        format: 'apollo-persisted-query-manifest',
        version: 1,
        operations: [{ id: hashOf(notes), name: 'Notes', type: 'query', body: notes }],
      }),
    });
    const relay = read(join(path, 'a.json'));
    expect(relay.find('5d41402abc4b2a76b9719d911017c592')).toBe(notes);
    expect([relay.find('ab'), relay.find('sha256:ab'), relay.find('AB')]).toEqual([insert, insert, null]);
    expect(read(join(path, 'b.json')).find(hashOf(notes))).toBe(notes);
  });

  test('documents of a folder have the fragments of other files; the hash is that of the file', () => {
    const list = 'query List { noteCollection { edges { node { ...Body } } } }\n';
    const path = folder({
      'list.graphql': list,
      'deep/body.gql': 'fragment Body on Note { body }',
      'own.graphql': notes,
    });
    const documents = read(path);
    expect(documents.find(hashOf(list))).toBe(`${list.trim()}\n\nfragment Body on Note { body }\n\n`);
    expect(documents.find(hashOf(notes))).toBe(notes);
    expect(documents.has(notes)).toBe(true);
  });

  test('documents outside the folder are not read, and in hidden folders only by links in it', () => {
    const path = folder({});
    mkdirSync(join(path, '..data'));
    writeFileSync(join(path, '..data', 'mounted.graphql'), notes);
    symlinkSync('..data/mounted.graphql', join(path, 'mounted.graphql'));
    expect([...read(path).texts()]).toEqual([notes]);
    writeFileSync(join(path, '..', 'secret.txt'), 'secret');
    symlinkSync('../secret.txt', join(path, 'out.graphql'));
    expect(() => read(path)).toThrow('out.graphql is a link that leads out of the folder.');
    rmSync(join(path, 'out.graphql'));
    symlinkSync('/dev/zero', join(path, 'deep', 'endless.graphql'));
    expect(() => read(path)).toThrow('endless.graphql is a link that leads out of the folder.');
  });

  test('documents that are too large, or no manifest, are refused', () => {
    const path = folder({
      'large.json': `{"a": "${'x'.repeat(64 * 1024 * 1024)}"}`,
      'number.json': '{"a": 1}',
      'twice.json': JSON.stringify({
        operations: [
          { id: 'a', body: notes },
          { id: 'a', body: insert },
        ],
      }),
      'list.json': '[]',
    });
    const problemOf = (name: string) => {
      try {
        return read(join(path, name)).texts().size;
      } catch (error) {
        return (error as Error).message.split('\n')[0]!.replace(`${path}/`, '');
      }
    };
    expect(['large.json', 'number.json', 'twice.json', 'list.json', 'none.json'].map(problemOf)).toEqual([
      '- large.json: the documents have more than 64 MiB together.',
      '- number.json: the document "a" has no id or no text.',
      '- twice.json: two documents have the id "a".',
      '- list.json is no manifest of documents.',
      '- none.json cannot be read (ENOENT).',
    ]);
  });
});
