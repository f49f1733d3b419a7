/** GET `/graphql/v1/schema.graphql`: the schema of a role, for the service key and access tokens with their scope. */
import { expect, test } from 'vitest';
import { printRoleSchema } from '../../src/graphql/schema/build-schema.ts';
import { addToken, managedGateway } from '../management/management.ts';
import { anonKey, secret, serviceKey, token } from '../support/http.ts';
import { createAuthDatabase } from '../support/postgres.ts';

test('the schema of a role is for the service key, and for access tokens with the scope project:read', async () => {
  const database = await createAuthDatabase(`
    comment on schema public is '@graphql({"inflect_names": true})';
    create table note (id int primary key, body text);
    create table draft (id int primary key);
    grant select on note to anon;
    grant all on note, draft to authenticated;
  `);
  const reader = await addToken(database, { scopes: ['project:read'] });
  const managed = await managedGateway(database, reader, { anonKey, serviceKey, jwtSecret: secret });
  const { url, model } = managed.gateway;
  const ask = async (headers: Readonly<Record<string, string>>, query = '') => {
    const response = await fetch(`${url}/graphql/v1/schema.graphql${query}`, { headers });
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
  };
  const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
  const printed = async (role: string) => printRoleSchema((await model(role))!);

  const sdl = { status: 200, type: 'application/graphql; charset=utf-8' };
  expect(await ask({ apikey: serviceKey })).toEqual({ ...sdl, text: await printed('anon') });
  const whole = await printed('authenticated');
  expect(whole).toContain('type Draft ');
  expect(await ask(bearer(reader), '?role=authenticated')).toEqual({ ...sdl, text: whole });
  const operator = await addToken(database, { scopes: ['project:operate'] });
  expect((await ask(bearer(operator))).status).toBe(200);

  const user = await token({ role: 'authenticated', sub: 'a' });
  const past = new Date(Date.now() - 1000);
  const refused = [
    [401, {}],
    [403, { apikey: anonKey }],
    [403, { apikey: anonKey, ...bearer(user) }],
    [403, { apikey: serviceKey, ...bearer(user) }],
    [401, bearer(`sbp_${'0'.repeat(40)}`)],
    [401, bearer(await addToken(database, { scopes: ['auth_config:read', 'auth_config:write'] }))],
    [401, bearer(await addToken(database, { scopes: ['project:read'], expiresAt: past }))],
    [401, bearer(await addToken(database, { scopes: ['project:read'], projectRef: 'z'.repeat(20) }))],
  ] as const;
  for (const [status, headers] of refused) {
    const answer = await ask(headers, '?role=authenticated');
    expect([answer.status, answer.text.includes('Draft')]).toEqual([status, false]);
  }
  for (const role of ['postgres', '', 'anon&role=anon']) {
    expect((await ask({ apikey: serviceKey }, `?role=${role}`)).status).toBe(400);
  }
  // The scope opens nothing else.
  expect((await managed.get()).status).toBe(403);
});
