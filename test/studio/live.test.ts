/** The page Live in a real browser: who subscribes to what, kept up to date, without values; and a narrow, dark one. */
import { expect, test } from 'vitest';
import { ref } from '../management/management.ts';
import { anonKey, token } from '../support/http.ts';
import { overEvents, overSocket } from '../support/live.ts';
import { recordChanges } from '../support/live-record.ts';
import { accessToken, faultsInBothLooks, startStudio, violations } from './studio.ts';

const studio = await startStudio();

const products = `subscription Products($name: String) {
  productCollection(filter: { name: { neq: $name } }, first: 1) { nodes { name } } }`;

test('subscriptions appear by operation and role, change, and go, and the page shows how to subscribe', async () => {
  await recordChanges(studio.database);
  const { page, foreign, problems } = await studio.visit('live');
  await page.getByText('Nobody subscribes now').waitFor();
  const user = { apikey: anonKey, authorization: `Bearer ${await token({ sub: 'a', role: 'authenticated' })}` };
  const open = [
    overEvents(studio.url, { query: products, variables: { name: 'hidden-value' } }),
    overSocket(studio.url, { query: products, variables: { name: 'hidden-value' } }),
    overSocket(studio.url, { query: products, variables: { name: 'other' } }),
    overSocket(studio.url, { query: 'subscription { postCollection(first: 1) { nodes { title } } }', headers: user }),
  ];
  await Promise.all(open.map((heard) => heard.next()));
  const table = page.getByRole('region', { name: 'Live queries' });
  const named = table.getByRole('row', { name: /^Products/ });
  const cells = () => named.getByRole('cell').allTextContents();
  await expect.poll(async () => (await cells()).slice(0, 2)).toEqual(['anon', '3']);
  await expect.poll(async () => (await cells())[4]).toBe('3');
  const [, , , groups, exact, runs, events, lag, last] = (await cells()).map((text) => Number.parseInt(text, 10));
  // Over a WebSocket other headers come than with a request, which are part of the caller.
  expect([groups, exact]).toEqual([3, 3]);
  expect(runs).toBeGreaterThanOrEqual(3);
  expect(events).toBe(3);
  expect([lag, last].every((ms) => ms! >= 0)).toBe(true);
  await table.getByRole('row', { name: /^Unnamed [0-9a-f]+ authenticated 1/ }).waitFor();
  expect(await page.content()).not.toMatch(/hidden-value|eyJ/);
  expect(await faultsInBothLooks(page)).toEqual([]);
  await named.getByRole('button', { name: 'End … Products' }).click();
  await page.getByRole('dialog').getByText('Its 3 subscriptions get').waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'End subscriptions' }).click();
  for (const heard of open.slice(0, 3))
    expect(JSON.stringify([await heard.end, heard.results.at(-1)])).toContain(
      'An operator has ended this subscription.',
    );
  await named.waitFor({ state: 'detached' });
  for (const heard of open) heard.stop();
  await page.getByText('Nobody subscribes now').waitFor();
  expect({ foreign, problems }).toEqual({ foreign: [], problems: [] });
});

test('a user who subscribes is named, and leads to the sessions', async () => {
  const { id } = (await studio.ask('/signup', { email: 'ada@mail.test', password: 'a good password' })) as {
    readonly id: string;
  };
  const { page } = await studio.visit('live');
  const user = { apikey: anonKey, authorization: `Bearer ${await token({ sub: id, role: 'authenticated' })}` };
  const heard = overEvents(studio.url, { query: products, variables: { name: 'x' }, headers: user });
  await heard.next();
  await page.getByRole('link', { name: 'ada@mail.test' }).click();
  await page.getByRole('heading', { name: 'ada@mail.test' }).waitFor();
  await expect.poll(() => page.url()).toContain('tab=sessions');
  heard.stop();
});

test('the list of live queries is for access tokens with the scope project:operate alone', async () => {
  const ask = (authorization: string) =>
    fetch(`${studio.url}/v1/projects/${ref}/live-queries`, { headers: { authorization } });
  expect((await ask(`Bearer ${anonKey}`)).status).toBe(401);
  const scopes = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' };
  const made = await fetch(`${studio.url}/v1/projects/${ref}/access-tokens`, {
    method: 'POST',
    headers: scopes,
    body: JSON.stringify({ name: 'reader', scopes: ['project:read'], expiresAt: null }),
  });
  expect((await ask(`Bearer ${((await made.json()) as { token: string }).token}`)).status).toBe(403);
  const end = (authorization: string, body: unknown) =>
    fetch(`${studio.url}/v1/projects/${ref}/live-queries/end`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const target = { operation: 'Products', document: null, role: 'anon' };
  expect((await end(`Bearer ${anonKey}`, target)).status).toBe(401);
  expect((await end(`Bearer ${accessToken}`, { operation: 'Products', document: null })).status).toBe(400);
  expect(await (await end(`Bearer ${accessToken}`, target)).json()).toEqual({ ended: 0 });
  const answer = await ask(`Bearer ${accessToken}`);
  expect([answer.status, await answer.json()]).toEqual([200, { processes: 1, answered: 1, operations: [] }]);
});
