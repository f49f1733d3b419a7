/**
 * A site that is rendered on a server: the links of the emails lead to the server, which makes a session of them and keeps it in
 * cookies that no script can read. Two kinds of links, one endpoint each:
 *
 * - `/auth/confirm` takes the hash of a token, whatever browser the email is opened in;
 * - `/auth/callback` takes the code of the PKCE flow, which is worth something only together with the secret that the browser
 *   got as a cookie when it asked for the email. Opened in another browser, the link signs no user in.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createServerClient, parseCookieHeader, serializeCookieHeader } from '@supabase/ssr';
import type { EmailOtpType } from '@supabase/supabase-js';
import { apiUrl, port, required } from '../settings.ts';
import { type Html, html } from './html.ts';

const anonKey = required('ANON_KEY');

/** Our own origin: configured or known, and never what a request says. */
let origin = process.env.SITE_URL ?? '';

/** One request, its answer, and a client whose session is in their cookies. */
interface Exchange {
  readonly url: URL;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly supabase: ReturnType<typeof createClient>;
}

const routes: Record<string, (exchange: Exchange) => Promise<void>> = {
  'GET /': showHome,
  'POST /sign-up': signUp,
  'POST /sign-in': signIn,
  'POST /send-link': sendLink,
  'POST /sign-out': signOut,
  'GET /auth/confirm': confirm,
  'GET /auth/callback': callback,
};

const server = createServer((request, response) => {
  response.setHeader('cache-control', 'no-store');
  response.setHeader('referrer-policy', 'no-referrer');
  response.setHeader('content-security-policy', "default-src 'none'; form-action 'self'; frame-ancestors 'none'");
  const url = URL.parse(request.url ?? '', origin);
  const route = routes[`${request.method} ${url?.pathname}`];
  if (url === null || route === undefined) return show(response, 404, 'There is no such page.');
  const supabase = createClient(request, response);
  route({ url, request, response, supabase }).catch((error) => {
    console.error(error);
    show(response, 500, 'Something went wrong.');
  });
});

server.listen(port, 'localhost', () => {
  origin ||= `http://localhost:${(server.address() as AddressInfo).port}`;
  console.log(origin);
});

/** A client of one request; it does not outlive it, and so no two users ever share one. */
function createClient(request: IncomingMessage, response: ServerResponse) {
  return createServerClient(apiUrl, anonKey, {
    cookieOptions: { httpOnly: true, sameSite: 'lax', secure: origin.startsWith('https:'), path: '/' },
    cookies: {
      getAll: () => parseCookieHeader(request.headers.cookie ?? '').map(({ name, value = '' }) => ({ name, value })),
      setAll: (cookies) => {
        for (const { name, value, options } of cookies)
          response.appendHeader('set-cookie', serializeCookieHeader(name, value, options));
      },
    },
  });
}

async function signUp({ request, response, supabase }: Exchange): Promise<void> {
  const { email = '', password = '', name = '' } = await fieldsOf(request);
  const options = { emailRedirectTo: origin, data: { name } };
  const { error } = await supabase.auth.signUp({ email, password, options });
  if (error) return show(response, 400, error.message);
  show(response, 200, `An email is on its way to ${email}`);
}

async function signIn({ request, response, supabase }: Exchange): Promise<void> {
  const { email = '', password = '' } = await fieldsOf(request);
  const { error } = await supabase.auth.signInWithPassword({ email, password });
  if (error) return show(response, 400, error.message);
  redirect(response, '/');
}

/** Asks for an email: to a new address the confirmation, to a known one the magic link. */
async function sendLink({ request, response, supabase }: Exchange): Promise<void> {
  const { email = '' } = await fieldsOf(request);
  const options = { emailRedirectTo: `${origin}/auth/callback` };
  const { error } = await supabase.auth.signInWithOtp({ email, options });
  if (error) return show(response, 400, error.message);
  show(response, 200, `An email is on its way to ${email}`);
}

async function signOut({ response, supabase }: Exchange): Promise<void> {
  await supabase.auth.signOut();
  redirect(response, '/');
}

/** `?token_hash=…&type=…&next=…`, as the template wrote it. */
async function confirm({ url, response, supabase }: Exchange): Promise<void> {
  const { token_hash = '', type = '', next = '/' } = Object.fromEntries(url.searchParams);
  const { error } = await supabase.auth.verifyOtp({ token_hash, type: type as EmailOtpType });
  if (error) return show(response, 400, error.message);
  redirect(response, next);
}

/** `?code=…`, or `?error_description=…` where the auth service refused the link. */
async function callback({ url, response, supabase }: Exchange): Promise<void> {
  const { code, error_description } = Object.fromEntries(url.searchParams);
  if (code === undefined) return show(response, 400, error_description ?? 'This link is not complete.');
  const { error } = await supabase.auth.exchangeCodeForSession(code);
  if (error) return show(response, 400, error.message);
  redirect(response, '/');
}

async function showHome({ response, supabase }: Exchange): Promise<void> {
  // Asks the auth service: what a cookie says about its user is not to be trusted.
  const { data } = await supabase.auth.getUser();
  if (data.user === null) return show(response, 200, 'Not signed in', forms);
  const { email, user_metadata: metadata } = data.user;
  const name = typeof metadata.name === 'string' ? html`<p id="name">${metadata.name}</p>` : html``;
  show(response, 200, `Signed in as ${email}`, html`${name}${signOutForm}`);
}

/** Names and values of the form that was sent. */
async function fieldsOf(request: IncomingMessage): Promise<Partial<Record<string, string>>> {
  return Object.fromEntries(new URLSearchParams(await text(request)));
}

/** Goes on to a page of our own; anything else, and our own endpoints for links, becomes the home page. */
function redirect(response: ServerResponse, next: string): void {
  const target = URL.canParse(next, origin) ? new URL(next, origin) : new URL(origin);
  const isOwn = target.origin === origin && !target.pathname.startsWith('/auth/');
  response.writeHead(303, { location: isOwn ? target.href : origin }).end();
}

const emailField = html`<label>Email <input name="email" type="email" autocomplete="email" required></label>`;
const forms = html`<form id="sign-up" method="post" action="/sign-up">
  ${emailField}
  <label>Password <input name="password" type="password" autocomplete="new-password" required></label>
  <label>Name <input name="name" autocomplete="name"></label>
  <button type="submit">Sign up</button>
</form>
<form id="sign-in" method="post" action="/sign-in">
  ${emailField}
  <label>Password <input name="password" type="password" autocomplete="current-password" required></label>
  <button type="submit">Sign in</button>
</form>
<form id="send-link" method="post" action="/send-link">
  ${emailField}
  <button type="submit">Send me a link</button>
</form>`;
const signOutForm = html`<form method="post" action="/sign-out"><button type="submit">Sign out</button></form>`;

function show(response: ServerResponse, status: number, message: string, more: Html = html``): void {
  const page = html`<!doctype html>
<html lang="en">
<title>A site with a server</title>
<p id="status" role="status">${message}</p>
${more}
</html>
`;
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(page.text);
}
