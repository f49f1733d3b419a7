/** Texts that tenants and users have written, as an operator's browser shows them: none of them becomes an element of a page. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { addToken, managedGateway } from '../management/management.ts';
import { openBrowser } from '../support/browser.ts';
import { anonKey } from '../support/http.ts';
import { createAuthDatabase } from '../support/postgres.ts';

// A busy machine takes its time to start a browser.
vi.setConfig({ testTimeout: 240_000 });

const evil = (mark: string) => `${mark}<img src=x onerror=alert(1)><b class=evil>*b*</b>[l](javascript:alert(1))`;
const id = '5f9d8b1c-0000-4000-8000-000000000001';

test('no page shows as markup what tables, policies, functions, rows, users and sessions are called and contain', async () => {
  const name = (mark: string) => `"${evil(mark)}"`.slice(0, 60).replace(/[^"]$/, '"');
  const database = await createAuthDatabase(`
    create type mood as enum ('${evil('e').slice(0, 60)}', 'fine');
    create table ${name('t')} (id int primary key, ${name('c')} text, body text, tags text[], data jsonb, mood mood);
    comment on table ${name('t')} is '@graphql({"name": "Evil"}) ${evil('d')}';
    comment on column ${name('t')}.${name('c')} is '@graphql({"name": "c"}) ${evil('d')}';
    alter table ${name('t')} enable row level security;
    create policy ${name('p')} on ${name('t')} using (body <> '${evil('q')}');
    create function ${name('f')}() returns int language sql return 1;
    grant select, insert, update, delete on ${name('t')} to anon, service_role;
    insert into ${name('t')} values (1, '${evil('v')}', '${evil('v')}', array['${evil('v')}'], '{"a": "${evil('v')}"}', 'fine');
    insert into auth.users (instance_id, id, aud, role, email, created_at, updated_at, raw_user_meta_data, raw_app_meta_data) values
      ('00000000-0000-0000-0000-000000000000', '${id}', 'authenticated', '${evil('r')}', '"${evil('m')}"@x.test', now(), now(),
      '{"full_name": "${evil('n')}", "avatar_url": "javascript:alert(1)"}', '{"provider": "${evil('a')}", "providers": ["${evil('a')}"]}');
    insert into auth.sessions (id, user_id, created_at, updated_at, user_agent) values (gen_random_uuid(), '${id}', now(), now(), '${evil('u')}');
    insert into auth.audit_log_entries (instance_id, id, payload, created_at, ip_address) values
      ('00000000-0000-0000-0000-000000000000', gen_random_uuid(), '{"action": "login", "actor_id": "${id}", "actor_username": "${evil('w')}", "log_type": "account"}', now(), '${evil('i').slice(0, 60)}');
  `);
  const token = await addToken(database, {
    scopes: ['auth_config:read', 'auth_config:write', 'project:read', 'project:operate'],
  });
  const { gateway } = await managedGateway(database, token, { anonKey });
  const context = await (await openBrowser()).newContext({ viewport: { width: 1600, height: 1000 } });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  await page.goto(`${gateway.url}/studio`);
  await page.evaluate((value) => sessionStorage.setItem('pgreflect:access-token', value), token);
  const table = encodeURIComponent(name('t').slice(1, -1));
  const pages: readonly (readonly [path: string, shows: string])[] = [
    ['data/Evil?as=service', evil('v')],
    ['data/Evil?as=service&row=1', evil('v')],
    ['access', name('t').slice(1, -1)],
    [`access/public/${table}`, evil('q')],
    ['access?view=functions', 'f<img'],
    ['schema/Evil?role=service_role', 'Evil'],
    ['api-docs/Evil', 'Evil'],
    ['users', evil('m')],
    [`users/${id}`, evil('n')],
    [`users/${id}?tab=sessions`, evil('u')],
    [`users/${id}?tab=audit`, evil('w')],
    [`users/${id}?tab=metadata`, evil('n')],
    [`users/${id}?tab=sign-in`, evil('m')],
  ];
  for (const [path, shows] of pages) {
    await page.goto(`${gateway.url}/studio/${path}`);
    const text = () =>
      page.evaluate(() => {
        const fields = [...document.querySelectorAll<HTMLInputElement>('input, textarea')].map(({ value }) => value);
        return [document.body.textContent, ...fields].join('\n');
      });
    await expect.poll(text, { message: path }).toContain(shows);
    const injected = await page.evaluate(
      () => document.querySelectorAll('img[src=x], .evil, a[href^="javascript:" i], [onerror]').length,
    );
    expect([path, injected]).toEqual([path, 0]);
  }
  expect(dialogs).toEqual([]);
});
