/**
 * What the management API tells of fields and versions: origin, initial value, and never a secret.
 */
import { beforeAll, expect, test } from 'vitest';
import { authFieldNames } from '../../src/config/auth/auth-fields.ts';
import { inertFields } from '../../src/management/config-fields.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { addToken, managedGateway, ref } from './management.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createAuthDatabase();
});

const path = `/v1/projects/${ref}/config/auth/fields`;

interface Field {
  readonly name: string;
}

test('the list of fields says of each where its value comes from and what applies without a stored one', async () => {
  const authValues = { jwt_exp: 1800, site_url: 'https://start.example', smtp_pass: 'start-secret' };
  const { call, get, patch } = await managedGateway(database, await addToken(database), { authValues });
  await patch({ site_url: 'https://stored.example', smtp_pass: null, mailer_otp_length: 8, saml_enabled: true });
  const { status, body } = await call({ path });
  expect(status).toBe(200);
  expect(body.isConfigOnly).toBe(false);
  expect(body.fields.map(({ name }: Field) => name).sort()).toEqual([...authFieldNames, ...inertFields.keys()].sort());
  const of = (wanted: string) => body.fields.find(({ name }: Field) => name === wanted);
  expect(of('jwt_exp')).toMatchObject({
    origin: 'start',
    initial: 1800,
    type: 'integer',
    minimum: 0,
    maximum: 604_800,
  });
  expect(of('site_url')).toMatchObject({ origin: 'stored', initial: 'https://start.example', hasEffect: true });
  expect(of('mailer_otp_length')).toMatchObject({ origin: 'stored', initial: 6 });
  expect(of('mailer_delivery')).toMatchObject({ origin: 'default', initial: 'queue', options: ['direct', 'queue'] });
  expect(of('saml_enabled')).toMatchObject({ origin: 'stored', initial: false, hasEffect: false });
  expect(of('uri_allow_list')).toMatchObject({ isList: true });
  const { smtp_pass: digest } = (await get()).body;
  expect(of('smtp_pass')).toMatchObject({ origin: 'start', isSecret: true, initial: digest });
  expect(JSON.stringify(body)).not.toContain('start-secret');
});

test('attack: neither the list of fields nor a version shows a secret, and another scope reads neither', async () => {
  const secret = 'a-stored-secret-of-the-mail-server';
  const { call, patch, get } = await managedGateway(database, await addToken(database));
  await patch({ smtp_pass: secret, smtp_admin_email: 'a@x.test' });
  const { body: versions } = await call({ path: `/v1/projects/${ref}/config/auth/versions` });
  const { body } = await call({ path: `/v1/projects/${ref}/config/auth/versions/${versions[0].version}` });
  expect(body.values).toMatchObject({ smtp_admin_email: 'a@x.test', smtp_pass: (await get()).body.smtp_pass });
  const fields = await call({ path });
  expect(JSON.stringify([body, versions, fields.body])).not.toContain(secret);
  const token = `Bearer ${await addToken(database, { scopes: ['project:operate'] })}`;
  expect((await call({ path, token })).status).toBe(403);
  expect((await call({ path, token: null })).status).toBe(401);
});
