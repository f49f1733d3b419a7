/**
 * An application as the guides of Supabase show it, for browser tests: one page with the published client, a form for each of
 * its methods, and what the client and the API say about who is signed in.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { anonKey } from './http.ts';
import { clientScript } from './supabase-js.ts';
import { atEnd } from './when-over.ts';

const forms: Readonly<Record<string, readonly string[]>> = {
  'sign-up': ['email', 'password', 'name'],
  'sign-in': ['email', 'password'],
  'send-link': ['email'],
  'enter-code': ['email', 'token', 'type'],
  'forgot-password': ['email'],
  'new-password': ['password'],
  'new-email': ['email'],
  resend: ['email'],
  'sign-out': [],
};

const formHtml = Object.entries(forms)
  .map(([id, names]) => {
    const inputs = names.map((name) => `<input name="${name}" aria-label="${name}">`).join('');
    return `<form id="${id}">${inputs}<button type="submit">${id}</button></form>`;
  })
  .join('\n');

/** The flow is the path of the page, so that links lead back to a client of the same flow. */
const script = (gatewayUrl: string) => `
const { auth } = supabase.createClient('${gatewayUrl}', '${anonKey}', {
  auth: { flowType: location.pathname.slice(1) },
});
const show = (id, text) => { document.getElementById(id).textContent = text; };
const events = [];
auth.onAuthStateChange((event) => { events.push(event); show('events', events.join(' ')); });

const redirectTo = location.origin + location.pathname;
const send = {
  'sign-up': ({ email, password, name }) =>
    auth.signUp({ email, password, options: { data: { name }, emailRedirectTo: redirectTo } }),
  'sign-in': (fields) => auth.signInWithPassword(fields),
  'send-link': ({ email }) => auth.signInWithOtp({ email, options: { emailRedirectTo: redirectTo } }),
  'enter-code': (fields) => auth.verifyOtp(fields),
  'forgot-password': ({ email }) => auth.resetPasswordForEmail(email, { redirectTo }),
  'new-password': (fields) => auth.updateUser(fields),
  'new-email': (fields) => auth.updateUser(fields, { emailRedirectTo: redirectTo }),
  resend: ({ email }) => auth.resend({ type: 'signup', email, options: { emailRedirectTo: redirectTo } }),
  'sign-out': () => auth.signOut(),
};
for (const form of document.forms) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    show('status', '');
    await tell(await send[form.id](Object.fromEntries(new FormData(form))));
  });
}

/** The profile comes from the database, by the session's token. */
async function profileOf(session) {
  const headers = { apikey: '${anonKey}', authorization: 'Bearer ' + session.access_token };
  const body = JSON.stringify({ query: '{ profileCollection { edges { node { name } } } }' });
  const answer = await fetch('${gatewayUrl}/graphql/v1', {
    method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body,
  });
  const { data, errors } = await answer.json();
  return errors ? errors[0].message : data.profileCollection.edges.map(({ node }) => node.name).join();
}

async function tell({ error }) {
  const { data: { session } } = await auth.getSession();
  const { data: { user } } = session ? await auth.getUser() : { data: { user: null } };
  show('user', user ? user.email + ', ' + user.user_metadata.name + ', profile of ' + (await profileOf(session)) : 'nobody');
  show('status', error ? error.message : 'done');
}

auth.initialize().then(tell);
`;

const page = `<!doctype html><html lang="en"><title>Members</title>
<p id="status" role="status"></p><p id="user"></p><p id="events"></p>
${formHtml}
<script src="/supabase.js"></script><script type="module" src="/app.js"></script></html>`;

/** The tables of the application: a profile for each user, made by a trigger. */
export const memberSql = `
  create table profile (id uuid primary key references auth.users on delete cascade, name text);
  alter table profile enable row level security;
  create policy own on profile using (id = auth.uid());
  grant select on profile to authenticated;
  create function make_profile() returns trigger language plpgsql security definer set search_path = '' as $$
    begin
      insert into public.profile (id, name) values (new.id, new.raw_user_meta_data ->> 'name');
      return new;
    end $$;
  create trigger on_auth_user_created after insert on auth.users for each row execute function make_profile();`;

/** Serves the page for a gateway until the tests of the file are over; returns its origin. */
export async function serveMemberApp(gatewayUrl: string): Promise<string> {
  const library = readFileSync(clientScript);
  const scripts: Readonly<Record<string, string | Buffer>> = { '/supabase.js': library, '/app.js': script(gatewayUrl) };
  const server = createServer((request, response) => {
    const text = scripts[request.url ?? ''];
    response.setHeader('content-type', text === undefined ? 'text/html' : 'text/javascript');
    response.end(text ?? page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => server.close().closeAllConnections());
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

/** What the page says once the client has read the address or has its answer. */
export interface Told {
  /** `done`, or the message of the client's error. */
  readonly status: string;
  readonly user: string;
}

/** Waits until the page says something. */
export async function told(page: Page): Promise<Told> {
  await page.locator('#status', { hasText: /./ }).waitFor();
  const read = async (id: string) => (await page.locator(id).textContent()) ?? '';
  return { status: await read('#status'), user: await read('#user') };
}

/** Fills in a form of the page and sends it. */
export async function submit(page: Page, form: string, fields: Readonly<Record<string, string>> = {}): Promise<Told> {
  for (const [name, value] of Object.entries(fields)) await page.fill(`#${form} [name=${name}]`, value);
  await page.click(`#${form} [type=submit]`);
  return told(page);
}
