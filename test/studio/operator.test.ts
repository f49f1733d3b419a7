/**
 * The studio of a gateway that is no local project, for an operator in a real browser: who gets which key.
 */
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { addToken, managedGateway, usePool } from '../management/management.ts';
import { openBrowser } from '../support/browser.ts';
import { anonKey, secret, serviceKey } from '../support/http.ts';
import { createAuthDatabase } from '../support/postgres.ts';
import { chooseUser } from './studio.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 240_000 });

const database = await createAuthDatabase();

const start = async (scopes: Parameters<typeof addToken>[1], given: Partial<Config> = {}) => {
  const token = await addToken(database, scopes);
  return { token, managed: await managedGateway(database, token, { anonKey, serviceKey, ...given }) };
};

test.each([
  [['auth_config:read'], null],
  [['auth_config:read', 'auth_config:write'], null],
  [['project:operate'], { anon: anonKey, service: '' }],
] as const)('a token with %j is told the keys %j: never the service key', async (scopes, keys) => {
  const { managed } = await start({ scopes });
  const { status, body, headers } = await managed.call({ path: '/studio/project' });
  expect({ status, keys: body.keys }).toEqual({ status: 200, keys });
  expect(JSON.stringify(body)).not.toContain(serviceKey);
  expect([headers.get('access-control-allow-origin'), headers.get('cache-control')]).toEqual([null, 'no-store']);
});

test('without a valid access token no key is shown: not for an API key, nor an expired token', async () => {
  const { managed } = await start({ scopes: ['project:operate'] });
  const ended = await addToken(database, { scopes: ['project:operate'], expiresAt: new Date(Date.now() - 1000) });
  const revoked = await addToken(database, { scopes: ['project:operate'] });
  await usePool(database, (pool) =>
    pool.query(
      "update auth.pgreflect_access_tokens set revoked_at = now() where token_hash = sha256(convert_to($1, 'UTF8'))",
      [revoked],
    ),
  );
  for (const token of [null, `Bearer ${anonKey}`, `Bearer ${serviceKey}`, `Bearer ${ended}`, `Bearer ${revoked}`]) {
    const { status, body } = await managed.call({ path: '/studio/project', token });
    expect(status).toBe(401);
    expect(JSON.stringify(body)).not.toContain(anonKey);
  }
});

test('GraphiQL asks an operator for no keys, also where they are made from the secret', async () => {
  await database.query(
    'create table note (id int primary key, body text); grant select on note to anon, authenticated',
  );
  await database.query("insert into note values (1, 'seen by anon')");
  await database.query('create table hidden (id int primary key, body text); grant select on hidden to service_role');
  await database.query("insert into hidden values (1, 'seen by the service role')");
  const evil = `<script>document.title = 'owned'</script><img src="x" onerror="document.title = 'owned'">
    <iframe src="javascript:parent.document.title = 'owned'"></iframe> [Click](javascript:document.title='owned')`;
  await database.query(
    `comment on table hidden is e'@graphql({"description": ${JSON.stringify(evil).replaceAll("'", "''").replaceAll('\\', '\\\\')}})'`,
  );
  await database.query(`insert into auth.users (instance_id, id, aud, role, email, created_at) values
    ('00000000-0000-0000-0000-000000000000', '5f9d8b1c-0000-4000-8000-000000000001', 'authenticated', 'authenticated', 'ann@x.test', now())`);
  const { token, managed } = await start(
    { scopes: ['project:operate'] },
    { anonKey: null, serviceKey: null, jwtSecret: secret },
  );
  const context = await (await openBrowser()).newContext({ viewport: { width: 1600, height: 1000 } });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(`${managed.gateway.url}/studio/graphql`);
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.graphiql-container').waitFor();
  // Without an example of the project, one is made of the first table; introspection is off.
  await page.locator('.graphiql-query-editor').getByText('noteCollection').waitFor();
  await page.getByRole('tab', { name: 'noteRows' }).waitFor();
  await page.getByRole('region', { name: 'Examples' }).getByRole('button', { name: 'First rows' }).waitFor();

  const run = async (operation: string, answer: string) => {
    await page.locator('.graphiql-query-editor .CodeMirror').click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText(operation);
    await page.getByRole('button', { name: /^Execute/ }).click();
    await page.locator('.graphiql-response').getByText(answer).waitFor();
  };
  await page.getByRole('radio', { name: 'service_role' }).check();
  await run('{ hiddenCollection { edges { node { body } } } }', 'seen by the service role');
  const next = async (table: string, body: string) => {
    await database.query(`update ${table} set body = $1`, [body]);
    await page.locator('.graphiql-response').getByText(body).waitFor();
    await page.getByRole('button', { name: /^Stop/ }).click();
    await expect.poll(() => managed.gateway.graphql.live.state().subscriptions).toBe(0);
  };
  await run('subscription { hiddenCollection { nodes { body } } }', 'seen by the service role');
  await next('hidden', 'changed for the service role');
  await page.getByRole('radio', { name: 'anon' }).check();
  await run('subscription { noteCollection { nodes { body } } }', 'seen by anon');
  await next('note', 'changed for anon');
  await page.getByRole('radio', { name: 'User' }).check();
  await chooseUser(page, 'User', 'ann@x.test');
  await run('{ __typename }', 'Query');
  await run('subscription { noteCollection { nodes { body } } }', 'changed for anon');
  await next('note', 'changed for a user');
  // Whatever a script would find here ends with the access token.
  const kept = await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie]));
  expect(kept).toContain(token);
  expect(kept).not.toMatch(/eyJ[\w-]+\.[\w-]+/);

  await page.getByRole('radio', { name: 'service_role' }).check();
  await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
  const docs = page.locator('.graphiql-doc-explorer');
  for (const type of ['Query', 'hiddenConnection', 'hiddenEdge', 'hidden'])
    await docs
      .locator('.graphiql-doc-explorer-type-name', { hasText: new RegExp(`^${type}$`) })
      .first()
      .click();
  await docs.getByText('Click').first().waitFor();
  const link = docs.locator('a', { hasText: 'Click' });
  if ((await link.count()) > 0) await link.first().click();
  expect(await docs.locator(':is(script, iframe, img)').count()).toBe(0);
  expect(await page.title()).not.toBe('owned');

  await run('subscription { hiddenCollection { nodes { body } } }', 'changed for the service role');
  await database.query('update auth.pgreflect_access_tokens set revoked_at = now()');
  // While the subscription goes on, nothing is clicked.
  const dialog = page.getByRole('dialog', { name: 'Your access token is no longer valid' });
  await dialog.waitFor();
  await database.query('update auth.pgreflect_access_tokens set revoked_at = null');
  await dialog.getByLabel('Access token').fill(token);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await run('{ hiddenCollection { edges { node { body } } } }', 'changed for the service role');
  await database.query('update auth.pgreflect_access_tokens set revoked_at = now()');
  await page.getByRole('button', { name: /^Execute/ }).click();
  await dialog.waitFor();
});
