/**
 * The auth service of a whole gateway on a test's database: requests in, answers and captured emails out. The clock stands
 * still until a test moves it.
 */

import { expect, onTestFinished, vi } from 'vitest';
import { setFlowCookie } from '../../src/auth/routes/flow-cookie.ts';
import { createPasswordHasher } from '../../src/auth/secrets/passwords.ts';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import type { Config } from '../../src/config/config.ts';
import { type Gateway, type GatewayExtras, startGateway } from '../../src/gateway.ts';
import type { Observation } from '../../src/shared/observation.ts';
import { anonKey, serviceKey, testConfig } from './http.ts';
import { takeGateway } from './left-gateway.ts';
import { migrateDatabase } from './migrate-database.ts';
import type { TestDatabase } from './postgres.ts';

/** An answer. */
export interface AuthReply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  readonly body: any;
  readonly text: string;
}

/** What a request may have beside path and body. */
export interface AuthRequestOptions {
  readonly method?: string;
  /** Null sends none. */
  readonly key?: string | null;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A captured message. */
interface TestMessage {
  readonly kind: string;
  readonly to: string;
  readonly subject: string;
  readonly html: string;
  readonly text: string;
  /** The six digits in it. */
  readonly code: string;
  /** The link in it, at the gateway under test; empty where it has none. */
  readonly link: string;
}

/** The service under test. */
export interface TestAuth {
  readonly gateway: Gateway;
  readonly url: string;
  readonly database: TestDatabase;
  readonly observations: readonly Observation[];
  /** Moves the clock. */
  pass(seconds: number): void;
  now(): number;
  /** Sends a request below `/auth/v1`; with a body it is a POST. Redirects are not followed. */
  ask(path: string, body?: unknown, options?: AuthRequestOptions): Promise<AuthReply>;
  /** As `ask`, with the service key. */
  askAdmin(path: string, body?: unknown, options?: AuthRequestOptions): Promise<AuthReply>;
  /** All messages, newest first; to one address where one is given. */
  messages(to?: string): Promise<readonly TestMessage[]>;
  /** The newest message to an address. */
  message(to: string): Promise<TestMessage>;
  /** Ends its use before the test ends: what the test starts next may be this gateway with other values. */
  leave(): Promise<void>;
}

/** Makes the tables in a database that has something else already. */
export async function installAuthTables(database: TestDatabase): Promise<void> {
  await migrateDatabase(database.url);
}

/** Messages in an hour that no test sends. */
const manyMessages = 1_000_000;

/** Limits that tests of something else must not meet. */
export const unlimited: AuthValues = {
  rate_limit_email_sent: manyMessages,
  rate_limit_email_recipient: 0,
  rate_limit_sms_sent: manyMessages,
  rate_limit_anonymous_users: 0,
  rate_limit_otp: 0,
  rate_limit_verify: 0,
  rate_limit_token_refresh: 0,
};

/** Makes hashes in a millisecond; 10 of cost, as in production, take sixty. */
const cheapHasher = createPasswordHasher(1, 4);

/** What a gateway has beside its auth configuration. */
type Given = Partial<Config> & Pick<GatewayExtras, 'hasher' | 'minRefusalMs'>;

/**
 * A gateway for one test, or the one of the test before (left-gateway.ts). Emails are captured unless `values` name a mail server.
 */
export async function testAuth(database: TestDatabase, values: AuthValues = {}, given: Given = {}): Promise<TestAuth> {
  const { gateway, clock, observations, leave } = await testedGateway(
    database,
    { site_url: 'https://app.test', ...unlimited, ...values },
    given,
  );
  const ask = (path: string, body?: unknown, options: AuthRequestOptions = {}) =>
    send(gateway.url, path, body, options);
  const messages = async (to: string | null = null) => {
    await untilHandedOver(database);
    const rows = await database.query<Omit<TestMessage, 'code' | 'link'>>(
      `select kind, recipient as to, subject, html, text from auth.pgreflect_captured_email
      where $1::text is null or recipient = $1 order by id desc`,
      [to],
    );
    return rows.map((row) => toMessage(row, gateway.url));
  };
  return {
    gateway,
    url: gateway.url,
    database,
    observations,
    leave,
    pass: (seconds) => {
      clock.time += seconds * 1000;
    },
    now: () => clock.time,
    ask,
    askAdmin: (path, body, options) => ask(path, body, { key: serviceKey, token: serviceKey, ...options }),
    messages: (to) => messages(to),
    async message(to) {
      const [newest] = await messages(to);
      if (newest === undefined) throw new Error(`There is no message to ${to}.`);
      return newest;
    },
  };
}

/** A started gateway with what a test has of it: its time in milliseconds since the epoch, and what it observed. */
interface Started {
  readonly gateway: Gateway;
  readonly clock: { time: number };
  observations: Observation[];
}

async function testedGateway(
  database: TestDatabase,
  values: AuthValues,
  given: Given,
): Promise<Started & Pick<TestAuth, 'leave'>> {
  const authValues = { api_max_request_duration: 60, ...values };
  onTestFinished(() => forgetLaterEmails(database));
  return takeGateway({ database, options: given }, authValues, {
    start: () => start(database, authValues, given),
    begin: (started) => {
      started.clock.time = Date.now();
      started.observations = [];
    },
  });
}

/**
 * A gateway that stops leaves emails to the next one. Where the test had moved its clock they are not due for the next test, which
 * would wait for them in vain.
 */
async function forgetLaterEmails(database: TestDatabase): Promise<void> {
  // One that is being sent is due a minute later.
  const text = `delete from pgreflect_queue.emails where due_at > now() + least(attempts, 1) * interval '61 s'`;
  // A test may have taken the tables, or the server.
  await database.query(text).catch(() => {});
}

/** Emails follow the answer: waits until none is on its way to the inbox. */
async function untilHandedOver(database: TestDatabase): Promise<void> {
  await vi.waitFor(
    async () => {
      const waiting = await database.query('select kind, attempts from pgreflect_queue.emails');
      expect(waiting, 'emails that wait').toEqual([]);
    },
    { timeout: 10_000, interval: 5 },
  );
}

async function start(
  database: TestDatabase,
  authValues: AuthValues,
  { hasher = cheapHasher, minRefusalMs = 0, ...given }: Given,
): Promise<Started> {
  const config = testConfig({
    databaseUrl: database.urlAs('authenticator', 'test'),
    adminDatabaseUrl: database.url,
    schemas: ['public'],
    port: 0,
    authValues,
    ...given,
  });
  const seen: Omit<Started, 'gateway'> = { clock: { time: Date.now() }, observations: [] };
  const gateway = await startGateway(config, {
    clock: { now: () => seen.clock.time },
    hasher,
    minRefusalMs,
    observe: (observation) => seen.observations.push(observation),
  });
  return Object.assign(seen, { gateway });
}

/** Sends a request below `/auth/v1` of a gateway; see `TestAuth.ask`. */
export async function send(url: string, path: string, body: unknown, options: AuthRequestOptions): Promise<AuthReply> {
  const { method = body === undefined ? 'GET' : 'POST', key = anonKey, token, headers } = options;
  const form = typeof body === 'string' ? body : '';
  const [, state = ''] = /^\/callback.*[?&]state=([^&?]*)/.exec(`${path}?${form}`) ?? [];
  const response = await fetch(`${url}/auth/v1${path}`, {
    method,
    redirect: 'manual',
    headers: {
      'x-supabase-api-version': '2024-01-01',
      'user-agent': 'test',
      // The browser that comes back is the one that went, unless a test says something else.
      ...(state === '' ? {} : { cookie: flowCookie(decodeURIComponent(state)) }),
      ...(key === null ? {} : { apikey: key }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : null };
}

/** The cookie of a browser that has begun a sign-in at a provider, at a gateway without https. */
export function flowCookie(state: string): string {
  return setFlowCookie({ state, authUrl: 'http:' }, false).split(';')[0] ?? '';
}

function toMessage(row: Omit<TestMessage, 'code' | 'link'>, url: string): TestMessage {
  const [, path] = /href="https?:\/\/[^/"]+(\/auth\/v1\/verify[^"]*)"/.exec(row.html) ?? [];
  const [code = ''] = /\b[0-9]{6,10}\b/.exec(row.text.replace(/https?:\S+/g, '')) ?? [];
  return { ...row, code, link: path === undefined ? '' : `${url}${path.replaceAll('&amp;', '&')}` };
}

/** Opens a link as a browser does, without following it. */
export async function open(link: string): Promise<{ readonly status: number; readonly location: string }> {
  const response = await fetch(link, { redirect: 'manual' });
  return { status: response.status, location: response.headers.get('location') ?? (await response.text()) };
}

/** Names and values behind `#`. */
export function fragmentOf(location: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(location.slice(location.indexOf('#') + 1)));
}

/** Names and values between `?` and `#`. */
export function queryOf(location: string): Record<string, string> {
  return Object.fromEntries(new URL(location).searchParams);
}

/** A confirmed user with a session. */
export async function signedUp(
  auth: TestAuth,
  email: string,
  password = 'a good password',
): Promise<AuthReply['body']> {
  await auth.ask('/signup', { email, password });
  const { code } = await auth.message(email);
  const { body } = await auth.ask('/verify', { type: 'email', email, token: code });
  return body;
}

/** As `signedUp`, at a gateway that the test then leaves to the one that it starts next. */
export async function signedUpBefore(
  database: TestDatabase,
  email: string,
  password?: string,
): Promise<AuthReply['body']> {
  const auth = await testAuth(database);
  const session = await signedUp(auth, email, password);
  await auth.leave();
  return session;
}
