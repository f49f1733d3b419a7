import { beforeAll, describe, expect, test } from 'vitest';
import { configFields } from '../../src/management/config-fields.ts';
import { managementErrors } from '../../src/management/management-error.ts';
import { anonKey } from '../support/http.ts';
import { createConformance } from '../support/openapi.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { addToken, type ManagedGateway, managedGateway, ref } from './management.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
type Json = any;

let database: TestDatabase;
let gateway: ManagedGateway;
let document: Json;

beforeAll(async () => {
  database = await createAuthDatabase();
});

async function load(): Promise<void> {
  gateway = await managedGateway(database, await addToken(database));
  document = (await gateway.call({ path: '/openapi.json', token: null })).body;
}

describe('/openapi.json', () => {
  test('/openapi.json is an OpenAPI 3.1 document of the management API, for everyone', async () => {
    await load();
    expect(document.openapi).toBe('3.1.0');
    expect(document.info.version).toMatch(/^\d+\.\d+\.\d+/);
    expect(Object.keys(document.paths['/v1/projects/{ref}/config/auth'])).toEqual(['get', 'patch']);
    expect(document.paths['/v1/projects/{ref}/config/auth'].patch.operationId).toBe('updateAuthConfig');
    expect(document.components.securitySchemes.accessToken).toMatchObject({ type: 'http', scheme: 'bearer' });
  });

  test('/openapi.json has every path of the auth service, each operation under a name of its own', async () => {
    await load();
    const { paths } = document;
    expect(Object.keys(paths['/auth/v1/user'])).toEqual(['get', 'put']);
    expect(paths['/auth/v1/signup'].post.security).toEqual([{ apiKey: [] }]);
    expect(paths['/auth/v1/verify'].get.security).toEqual([]);
    expect(paths['/auth/v1/admin/users/{id}'].delete.parameters).toMatchObject([{ name: 'id', in: 'path' }]);
    const ids = Object.values<Json>(paths).flatMap((path) =>
      Object.values<Json>(path).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('every reference leads to a schema, every schema is used, every status of the API is described', async () => {
    await load();
    const references = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(
      ([, name]) => name,
    );
    expect(references.filter((name) => !(name! in document.components.schemas))).toEqual([]);
    expect(Object.keys(document.components.schemas).filter((name) => !references.includes(name))).toEqual([]);
    const operations = Object.entries<Json>(document.paths)
      .filter(([path]) => path.startsWith('/v1/projects/{ref}/'))
      .flatMap(([, methods]) => Object.values<Json>(methods));
    const described = new Set(operations.flatMap(({ responses }) => Object.keys(responses).map(Number)));
    // Other paths and methods are not part of an operation.
    const statuses = Object.values(managementErrors)
      .map(({ status }) => status)
      .filter((status) => status !== 405);
    expect(statuses.filter((status) => !described.has(status))).toEqual([]);
  });

  test('every request of the studio is answered as described', async () => {
    const accessToken = await addToken(database, { scopes: ['project:operate'] });
    const studio = await managedGateway(database, accessToken, { localProject: true, accessToken });
    const conformance = createConformance((await studio.call({ path: '/openapi.json', token: null })).body);
    const ask = async (method: string, path: string, body?: object, token?: null) => {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const { status, body: answer } = await studio.call({ method, path, ...sent, ...(token === null && { token }) });
      const asked = { method: method.toLowerCase(), path: path.replace(/\?.*/, ''), body, status, answer };
      expect([path, status, ...conformance.check(asked)]).toEqual([path, token === null ? 401 : 200]);
      return answer;
    };
    const signUp = { method: 'POST', path: '/auth/v1/signup', token: null, headers: { apikey: anonKey } };
    const email = { email: 'studio@mail.test', password: 'a good password' };
    const { id: user } = (await studio.call({ ...signUp, body: JSON.stringify(email) })).body;
    const token = studio.gateway.studioEntry().replace(/.*token=/, '');
    await ask('POST', '/studio/session', { token });
    await ask('POST', '/studio/session', { token }, null);
    await ask('GET', '/studio/entry');
    await ask('GET', '/studio/project');
    await ask('GET', '/studio/project', undefined, null);
    const project = `/v1/projects/${ref}`;
    const operation = { query: '{ __typename }', operationName: null, variables: {} };
    await ask('POST', '/studio/graphql', operation);
    await ask('POST', '/studio/graphql', { query: '{ nothing }' });
    const target = { operation: null, document: null, role: 'anon' };
    for (const token of [undefined, null] as const) {
      await ask('GET', `${project}/live-queries`, undefined, token);
      await ask('POST', `${project}/live-queries/end`, target, token);
      await ask('POST', `${project}/explain`, { ...operation, role: 'anon', claims: {} }, token);
      await ask('POST', `${project}/act-as`, { user }, token);
    }
    expect(await ask('GET', '/studio/inbox.json?to=studio@mail.test')).toHaveLength(1);
    const described = conformance.described.filter((name) => name.includes(' /studio/'));
    expect(described.filter((name) => !conformance.seen.has(name))).toEqual([]);
  });

  test('what is answered fits its schema: names, types, nothing missing', async () => {
    await load();
    await gateway.patch({ smtp_pass: 'hunter2', sms_provider: 'twilio', rate_limit_web3: 3 });
    const { body } = await gateway.get();
    const schema = document.components.schemas.AuthConfig;
    expect(Object.keys(body)).toEqual(schema.required);
    expect(Object.keys(body).filter((name) => !fits(body[name], schema.properties[name]))).toEqual([]);
    const unset = await gateway.patch({ smtp_pass: null, sms_provider: null, rate_limit_web3: null });
    expect(Object.keys(body).filter((name) => !fits(unset.body[name], schema.properties[name]))).toEqual([]);
  });

  test('what a change may hold is what the validation takes: types, ranges, choices, null', async () => {
    const { properties } = (await loadChange()) as Json;
    expect(Object.keys(properties)).toEqual([...configFields.keys()]);
    for (const [name, { row }] of configFields) {
      const schema = properties[name];
      for (const sample of [
        true,
        5,
        6,
        7.5,
        -1,
        100_000,
        '587',
        '',
        'x y',
        'twilio',
        'direct',
        'https://a.example',
        null,
      ]) {
        const isTaken = sample === null ? !row.notNull : takes(() => row.kind.parse(sample));
        // Texts have rules that a schema does not tell, so the schema may allow more, and never less.
        if (isTaken) expect([name, sample, fits(sample, schema)]).toEqual([name, sample, true]);
        else if (typeof sample !== 'string' && name !== 'smtp_port')
          expect([name, sample, fits(sample, schema)]).toEqual([name, sample, false]);
      }
    }
  });
});

async function loadChange(): Promise<unknown> {
  await load();
  return document.components.schemas.AuthConfigChange;
}

function takes(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

/** The part of JSON Schema that the document uses. */
function fits(value: unknown, schema: Json): boolean {
  const types = [schema.type].flat();
  const type = value === null ? 'null' : Number.isInteger(value) ? 'integer' : typeof value;
  if (!types.includes(type) && !(type === 'integer' && types.includes('number'))) return false;
  if (schema.enum && !schema.enum.includes(value)) return false;
  if (schema.pattern && typeof value === 'string' && !new RegExp(schema.pattern).test(value)) return false;
  return typeof value !== 'number' || (value >= (schema.minimum ?? value) && value <= (schema.maximum ?? value));
}
