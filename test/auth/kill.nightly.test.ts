/**
 * Nothing half-written: a process that is killed at any step of a request leaves the state before it or the state after it,
 * and the user can go on from either, with the same request, at the next process.
 *
 * Real processes (`pgreflect serve`, ended by SIGKILL) between a real database and a real mail server. A step is a message of
 * the process that was answered (holding-proxy.ts); several requests are held, each at a step of its own, before one kill.
 */
import { decodeJwt } from 'jose';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { createPasswordHasher } from '../../src/auth/secrets/passwords.ts';
import { runCommand, startCommand } from '../commands/run-command.ts';
import { type TestAuth, testAuth } from '../support/auth.ts';
import { type AuthReply, type AuthRequestOptions, fragmentOf, send } from '../support/auth-service.ts';
import { factorsOf } from '../support/factors.ts';
import { createSteps, type Steps, startPostgresProxy, startSmtpProxy } from '../support/holding-proxy.ts';
import { secret, serviceKey, token as sign } from '../support/http.ts';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.ts';
import { startSmtpServer, type TestSmtpServer } from '../support/smtp-server.ts';

const password = 'a good password';
const passwordHash = await createPasswordHasher().hash(password);
const ref = 'abcdefghijklmnopqrst';
const accessToken = `sbp_${'0'.repeat(40)}`;

let auth: TestAuth;
let provider: LyingProvider;
beforeAll(async () => {
  auth = await testAuth();
  provider = await startLyingProvider('our client');
  auth.clock.time = Date.now();
});

type Ask = (path: string, body?: unknown, options?: AuthRequestOptions) => Promise<AuthReply>;

/** The requests of one user, who differs from instance to instance. */
interface Occasion {
  /** What is interrupted, and afterwards sent again. */
  send(ask: Ask): Promise<AuthReply>;
  /** Asserts what a client may expect from the second answer, and that the user can go on. */
  goOn(ask: Ask, reply: AuthReply, isDone: boolean): Promise<void>;
}

type Prepare = (email: string, ask: Ask, hashSentTo: HashSentTo) => Promise<Occasion>;

/** The hash in the newest email to an address. */
type HashSentTo = (email: string) => string;

const admin = { key: serviceKey, token: serviceKey } as const;

async function addUser(email: string) {
  const user = await auth.addUser(email, { passwordHash });
  const { session, refreshToken } = await auth.signIn(user);
  const claims = { sub: user.id, session_id: session.id, aud: 'authenticated', role: 'authenticated' };
  const exp = Math.floor(Date.now() / 1000) + 3600;
  return { user, refreshToken, token: await sign({ ...claims, exp }) };
}

async function expectSignIn(ask: Ask, email: string, given: string = password): Promise<void> {
  expect(await ask('/token?grant_type=password', { email, password: given })).toMatchObject({ status: 200 });
}

const expired = { status: 403, body: { code: 'otp_expired' } };

/** A flow that verifies a token by POST; `ask` sends its email. */
function verification(type: string, request: (email: string, ask: Ask) => Promise<AuthReply>): Prepare {
  return async (email, ask, hashSentTo) => {
    expect(await request(email, ask)).toMatchObject({ status: 200 });
    const body = { type, token_hash: hashSentTo(email) };
    return {
      send: (again) => again('/verify', body),
      async goOn(again, reply, isDone) {
        expect(reply).toMatchObject(isDone ? expired : { status: 200, body: { access_token: expect.any(String) } });
        expect(await again('/recover', { email })).toMatchObject({ status: 200 });
        expect(await again('/verify', { type: 'recovery', token_hash: hashSentTo(email) })).toMatchObject({
          status: 200,
        });
      },
    };
  };
}

/** A request that sends a link, whose answer is the same whether or not it has been sent before. */
function linkRequest(type: string, prepare: Prepare): Prepare {
  return async (email, ask, hashSentTo) => {
    const occasion = await prepare(email, ask, hashSentTo);
    return {
      ...occasion,
      async goOn(again, reply, isDone) {
        expect(reply).toMatchObject({ status: 200 });
        expect(await again('/verify', { type, token_hash: hashSentTo(email) })).toMatchObject({ status: 200 });
        await occasion.goOn(again, reply, isDone);
      },
    };
  };
}

const once = (send: Occasion['send'], goOn: Occasion['goOn'] = async () => {}): Occasion => ({ send, goOn });

/** The processes go by the clock of the machine. */
const withClock = (ask: Ask) => ({ ask, now: Date.now });

const signUp = (email: string, ask: Ask) => ask('/signup', { email, password });
const invite = (email: string, ask: Ask) => ask('/invite', { email }, admin);
/** Somebody whose address the provider has verified. */
async function signInExternally(email: string): Promise<Occasion> {
  const id_token = await provider.sign({ sub: email, email, email_verified: true });
  return once(
    (ask) => ask('/token?grant_type=id_token', { provider: 'google', id_token }),
    async (_ask, reply) =>
      expect(reply).toMatchObject({ status: 200, body: { user: { identities: [{ id: email }] } } }),
  );
}

const changeOf = (email: string) => `new.${email}`;

/** Its changes wait for each other, so one at most may be held at a time. */
const configuration = 'change of the configuration';
const manager = { token: accessToken, headers: { 'content-type': 'application/json' } } as const;
const configPath = `/../../v1/projects/${ref}/config/auth`;

/** Flows that send an email. */
const sending = new Set([
  'sign-up',
  'one-time sign-in of a new user',
  'one-time sign-in',
  'recovery',
  'resend',
  'invitation',
  'change of the address',
  'reauthentication',
]);

const flows: Readonly<Record<string, Prepare>> = {
  'sign-up': linkRequest('email', async (email) =>
    once(
      (ask) => signUp(email, ask),
      // The link has confirmed the address; the password that came before it is not kept.
      async (ask) => expect(await ask('/recover', { email })).toMatchObject({ status: 200 }),
    ),
  ),
  'sign-up of an anonymous user': async (email) =>
    once(
      (ask) => ask('/signup', { data: { email } }),
      async (_ask, reply) => expect(reply).toMatchObject({ status: 200 }),
    ),
  'confirmation of a sign-up': verification('email', signUp),
  'one-time sign-in of a new user': linkRequest('email', async (email) => once((ask) => ask('/otp', { email }))),
  'one-time sign-in': linkRequest('magiclink', async (email) => {
    await addUser(email);
    return once((ask) => ask('/otp', { email }));
  }),
  'a link that is opened': async (email, ask, hashSentTo) => {
    await addUser(email);
    await ask('/otp', { email });
    const path = `/verify?type=magiclink&token=${hashSentTo(email)}`;
    return once(
      (again) => again(path, undefined, { key: null }),
      async (again, reply, isDone) => {
        const answer = fragmentOf(reply.headers.get('location') ?? '');
        expect(answer).toMatchObject(isDone ? { error_code: 'otp_expired' } : { type: 'magiclink' });
        await expectSignIn(again, email);
      },
    );
  },
  'a code of the PKCE flow': async (email, ask, hashSentTo) => {
    await addUser(email);
    const verifier = 'v'.repeat(43);
    await ask('/otp', { email, code_challenge: verifier, code_challenge_method: 'plain' });
    const opened = await ask(`/verify?type=magiclink&token=${hashSentTo(email)}`, undefined, { key: null });
    const code = new URL(opened.headers.get('location') ?? '').searchParams.get('code');
    return once(
      (again) => again('/token?grant_type=pkce', { auth_code: code, code_verifier: verifier }),
      async (again, reply, isDone) => {
        expect(reply.status).toBe(isDone ? 404 : 200);
        await expectSignIn(again, email);
      },
    );
  },
  recovery: linkRequest('recovery', async (email) => {
    await addUser(email);
    return once((ask) => ask('/recover', { email }));
  }),
  'verification of a recovery': verification('recovery', async (email, ask) => {
    await addUser(email);
    return ask('/recover', { email });
  }),
  resend: linkRequest('email', async (email, ask) => {
    await signUp(email, ask);
    return once((again) => again('/resend', { type: 'signup', email }));
  }),
  invitation: linkRequest('invite', async (email) => once((ask) => invite(email, ask))),
  'acceptance of an invitation': verification('invite', invite),
  'sign-in with a password': async (email) => {
    await addUser(email);
    return once(
      (ask) => ask('/token?grant_type=password', { email, password }),
      async (_ask, reply) => expect(reply.status).toBe(200),
    );
  },
  refresh: async (email) => {
    const { refreshToken } = await addUser(email);
    const refresh = (ask: Ask, given: string) => ask('/token?grant_type=refresh_token', { refresh_token: given });
    return once(
      (ask) => refresh(ask, refreshToken),
      async (ask, reply) => {
        // The answer was lost, so the same token gives the one that was issued then.
        expect(reply.status).toBe(200);
        expect((await refresh(ask, reply.body.refresh_token)).status).toBe(200);
      },
    );
  },
  'change of the password': async (email) => {
    const { token } = await addUser(email);
    return once(
      (ask) => ask('/user', { password: 'another password' }, { method: 'PUT', token }),
      async (ask, reply, isDone) => {
        expect(reply).toMatchObject(isDone ? { status: 422, body: { code: 'same_password' } } : { status: 200 });
        await expectSignIn(ask, email, 'another password');
      },
    );
  },
  'change of the address': async (email, _ask, hashSentTo) => {
    const { token } = await addUser(email);
    return once(
      (ask) => ask('/user', { email: changeOf(email) }, { method: 'PUT', token }),
      async (ask, reply) => {
        expect(reply.status).toBe(200);
        for (const address of [email, changeOf(email)]) {
          const body = { type: 'email_change', token_hash: hashSentTo(address) };
          expect(await ask('/verify', body)).toMatchObject({ status: 200 });
        }
        await expectSignIn(ask, changeOf(email));
      },
    );
  },
  'first confirmation of a new address': async (email, ask, hashSentTo) => {
    const { token } = await addUser(email);
    await ask('/user', { email: changeOf(email) }, { method: 'PUT', token });
    const [first, second] = [email, changeOf(email)].map((address) => ({
      type: 'email_change',
      token_hash: hashSentTo(address),
    }));
    return once(
      (again) => again('/verify', first),
      async (again, reply, isDone) => {
        expect(reply).toMatchObject(isDone ? expired : { status: 200, body: { code: '200' } });
        expect(await again('/verify', second)).toMatchObject({ status: 200 });
        await expectSignIn(again, changeOf(email));
      },
    );
  },
  'second confirmation of a new address': async (email, ask, hashSentTo) => {
    const { token } = await addUser(email);
    await ask('/user', { email: changeOf(email) }, { method: 'PUT', token });
    const [first, second] = [email, changeOf(email)].map((address) => ({
      type: 'email_change',
      token_hash: hashSentTo(address),
    }));
    expect(await ask('/verify', first)).toMatchObject({ status: 200 });
    return once(
      (again) => again('/verify', second),
      async (again, reply, isDone) => {
        expect(reply).toMatchObject(isDone ? expired : { status: 200 });
        await expectSignIn(again, changeOf(email));
      },
    );
  },
  'an identity that is given up': async (email) => {
    const { user, token } = await addUser(email);
    await auth.database.query(
      `insert into auth.identities (provider_id, user_id, provider, identity_data, created_at)
      values ($2, $1, 'github', pg_catalog.jsonb_build_object('sub', $2::text, 'email', $3::text, 'email_verified', true), now())`,
      [user.id, `github of ${email}`, changeOf(email)],
    );
    const path = `/user/identities/${user.identities[0]!.id}`;
    return once(
      (ask) => ask(path, undefined, { method: 'DELETE', token }),
      async (ask, reply, isDone) => {
        const last = { status: 422, body: { code: 'single_identity_not_deletable' } };
        expect(reply).toMatchObject(isDone ? last : { status: 200 });
        await expectSignIn(ask, changeOf(email));
      },
    );
  },
  reauthentication: async (email) => {
    const { token } = await addUser(email);
    return once(
      (ask) => ask('/reauthenticate', undefined, { token }),
      async (_ask, reply) => expect(reply.status).toBe(200),
    );
  },
  'a second factor that is added': async (email) => {
    const { token } = await addUser(email);
    return once(
      (ask) => ask('/factors', { factor_type: 'totp' }, { token }),
      async (ask, reply, isDone) => {
        expect(reply).toMatchObject(isDone ? { body: { code: 'mfa_factor_name_conflict' } } : { status: 200 });
        const factors = factorsOf(withClock(ask), token);
        // Where the answer was lost, nobody has its secret.
        await factors.unenroll((await factors.list())[0].id);
        const app = await factors.enrollApp();
        expect(await factors.answer(app.id, app.code())).toMatchObject({ status: 200 });
      },
    );
  },
  'challenge of a second factor': async (email, ask) => {
    const { token } = await addUser(email);
    const app = await factorsOf(withClock(ask), token).enrollApp();
    return once(
      (again) => again(`/factors/${app.id}/challenge`, {}, { token }),
      async (again, reply) => {
        const verified = await factorsOf(withClock(again), token).verify(app.id, reply.body.id, app.code());
        expect(verified).toMatchObject({ status: 200 });
      },
    );
  },
  'verification of a second factor': async (email, ask) => {
    const { token, refreshToken } = await addUser(email);
    const factors = factorsOf(withClock(ask), token);
    const app = await factors.enrollApp();
    const { id } = (await factors.challenge(app.id)).body;
    return once(
      // A restart may take longer than a code is good.
      (again) => factorsOf(withClock(again), token).verify(app.id, id, app.code()),
      async (again, reply, isDone) => {
        expect(reply).toMatchObject(isDone ? { body: { code: 'mfa_ip_address_mismatch' } } : { status: 200 });
        // Where the answer was lost, the refresh token from before gives the one that was issued then.
        const refreshed = await again('/token?grant_type=refresh_token', { refresh_token: refreshToken });
        expect(decodeJwt(refreshed.body.access_token)).toMatchObject({ aal: 'aal2' });
      },
    );
  },
  'removal of a second factor': async (email, ask) => {
    const { token } = await addUser(email);
    const factors = factorsOf(withClock(ask), token);
    const app = await factors.enrollApp();
    expect(await factors.answer(app.id, app.code())).toMatchObject({ status: 200 });
    return once(
      (again) => again(`/factors/${app.id}`, undefined, { method: 'DELETE', token }),
      async (again, reply, isDone) => {
        expect(reply).toMatchObject(isDone ? { body: { code: 'mfa_factor_not_found' } } : { status: 200 });
        expect(await factorsOf(withClock(again), token).list()).toEqual([]);
      },
    );
  },
  'sign-out': async (email) => {
    const { token } = await addUser(email);
    return once(
      (ask) => ask('/logout', {}, { token }),
      async (ask, reply, isDone) => {
        expect(reply).toMatchObject(isDone ? { status: 403, body: { code: 'session_not_found' } } : { status: 204 });
        await expectSignIn(ask, email);
      },
    );
  },
  'a user made by an admin': async (email) =>
    once(
      (ask) => ask('/admin/users', { email, password, email_confirm: true }, admin),
      async (ask, reply, isDone) => {
        expect(reply).toMatchObject(isDone ? { status: 422, body: { code: 'email_exists' } } : { status: 200 });
        await expectSignIn(ask, email);
      },
    ),
  'a user changed by an admin': async (email) => {
    const { user } = await addUser(email);
    const body = { email: changeOf(email), email_confirm: true, user_metadata: { changed: true } };
    return once(
      (ask) => ask(`/admin/users/${user.id}`, body, { method: 'PUT', ...admin }),
      async (ask, reply) => {
        expect(reply.status).toBe(200);
        await expectSignIn(ask, changeOf(email));
      },
    );
  },
  'a link made by an admin': async (email) => {
    await addUser(email);
    return once(
      (ask) => ask('/admin/generate_link', { type: 'recovery', email }, admin),
      async (ask, reply) => {
        const body = { type: 'recovery', token_hash: reply.body.hashed_token };
        expect(await ask('/verify', body)).toMatchObject({ status: 200 });
      },
    );
  },
  [configuration]: async (email) =>
    once(
      (ask) => ask(configPath, { mailer_subjects_invite: email }, { method: 'PATCH', ...manager }),
      async (ask, reply) => {
        expect(reply.body.mailer_subjects_invite).toBe(email);
        const read = await ask(configPath, undefined, manager);
        expect(read.body.mailer_subjects_invite).toBe(email);
      },
    ),
  'deletion of a user': async (email) => {
    const { user } = await addUser(email);
    return once(
      (ask) => ask(`/admin/users/${user.id}`, {}, { method: 'DELETE', ...admin }),
      async (ask, reply, isDone) => {
        expect(reply).toMatchObject(isDone ? { status: 404, body: { code: 'user_not_found' } } : { status: 200 });
        expect((await signUp(email, ask)).status).toBe(200);
      },
    );
  },
  'deletion that keeps the row': async (email) => {
    const { user } = await addUser(email);
    return once(
      (ask) => ask(`/admin/users/${user.id}`, { should_soft_delete: true }, { method: 'DELETE', ...admin }),
      async (ask, reply) => {
        expect(reply.status).toBe(200);
        expect((await signUp(email, ask)).status).toBe(200);
      },
    );
  },
  'sign-in of a new user of a provider': signInExternally,
  'sign-in with a provider that puts a stranger out': async (email, ask) => {
    await signUp(email, ask);
    return signInExternally(email);
  },
};

/** A process with everything that it talks to. */
interface Process {
  readonly ask: Ask;
  readonly steps: Steps;
  kill(): Promise<void>;
  /** Ends it in an orderly way; what it logged that is worth a look. */
  warnings(): Promise<string>;
}

/** Each message says what it does. */
const readable = ['--prepared-statements', 'false'];

async function startProcess(smtp: TestSmtpServer): Promise<Process> {
  const steps = createSteps();
  const postgres = await startPostgresProxy(steps, auth.database.url);
  const mailServer = await startSmtpProxy(steps, smtp.port);
  const args = [
    'serve',
    '--port',
    '0',
    '--auth-pool-size',
    '60',
    '--pool-wait-ms',
    '60000',
    '--project-ref',
    ref,
    ...readable,
  ];
  const command = startCommand(args, {
    env: {
      DATABASE_URL: auth.database.urlAs('authenticator', 'test'),
      PGREFLECT_ADMIN_DATABASE_URL: postgres.url,
      PGREFLECT_JWT_SECRET: secret,
      PGREFLECT_ACCESS_TOKEN: accessToken,
      PGREFLECT_SMTP_HOST: '127.0.0.1',
      PGREFLECT_SMTP_PORT: String(mailServer.port),
      PGREFLECT_SMTP_ADMIN_EMAIL: 'no-reply@app.test',
      PGREFLECT_SITE_URL: 'https://app.test',
      PGREFLECT_EXTERNAL_GOOGLE_ENABLED: 'true',
      PGREFLECT_EXTERNAL_GOOGLE_URL: provider.issuer,
      PGREFLECT_EXTERNAL_GOOGLE_CLIENT_ID: 'our client',
      ...unlimited,
    },
  });
  const [, url = ''] = await command.until(/GraphQL and GraphiQL: (\S+)\/graphql\/v1/);
  return {
    ask: (path, body, options = {}) => send(url, path, body, options),
    steps,
    async kill() {
      command.signal('SIGKILL');
      await command.finished;
      await Promise.all([postgres.stop(), mailServer.stop()]);
      await rolledBack();
    },
    async warnings() {
      command.signal('SIGTERM');
      const { out } = await command.finished;
      return out
        .split('\n')
        .filter((line) => /"level":"(?:warn|error|fatal)"/.test(line))
        .join('\n');
    },
  };
}

/** Limits that are not what this is about, and time enough to wait in the middle of a request. */
const unlimited = {
  PGREFLECT_API_MAX_REQUEST_DURATION: '300',
  PGREFLECT_SMTP_MAX_FREQUENCY: '0',
  PGREFLECT_MAILER_DELIVERY: 'direct',
  PGREFLECT_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  PGREFLECT_SECURITY_MANUAL_LINKING_ENABLED: 'true',
  PGREFLECT_RATE_LIMIT_EMAIL_SENT: '1000000',
  PGREFLECT_RATE_LIMIT_ANONYMOUS_USERS: '0',
  PGREFLECT_RATE_LIMIT_OTP: '0',
  PGREFLECT_RATE_LIMIT_VERIFY: '0',
  PGREFLECT_RATE_LIMIT_TOKEN_REFRESH: '0',
  PGREFLECT_MFA_RATE_LIMIT_CHALLENGE_AND_VERIFY: '0',
};

/** Waits until PostgreSQL has noticed that the process is gone. */
async function rolledBack(): Promise<void> {
  await expect
    .poll(
      () =>
        auth.database.query(
          `select a.pid from pg_stat_activity a
          where a.datname = current_database() and a.application_name like 'pgreflect auth%' and a.state <> 'idle'`,
        ),
      { timeout: 20_000, interval: 20 },
    )
    .toEqual([]);
}

/** Rows by table and key: everything that belongs to one user, or the configuration. */
type State = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

async function readState(flow: string, email: string, before: State | null = null): Promise<State> {
  const known = [...(before ?? [])].flatMap(([key]) => (key.startsWith('users:') ? [key.slice('users:'.length)] : []));
  const values = [email, known, flow === configuration];
  const rows = await auth.database.query<{ key: string; row: Record<string, unknown> }>(stateStatement, values);
  return new Map(rows.map(({ key, row }) => [key, row]));
}

const stateStatement = `with ids as (
    select u.id from auth.users u
    where pg_catalog.concat_ws(' ', u.email, u.email_change, u.raw_user_meta_data) like '%' || $1 || '%'
    union select k.id::uuid from unnest($2::text[]) as k (id)
  ),
  found as (
    select 'users' as name, u.id::text as id, pg_catalog.to_jsonb(u) as "row" from auth.users u join ids using (id)
    union all
    select 'identities', i.id::text, pg_catalog.to_jsonb(i) from auth.identities i where i.user_id in (select id from ids)
    union all
    select 'sessions', s.id::text, pg_catalog.to_jsonb(s) from auth.sessions s where s.user_id in (select id from ids)
    union all
    select 'amr', c.id::text, pg_catalog.to_jsonb(c) from auth.mfa_amr_claims c join auth.sessions s on s.id = c.session_id
    where s.user_id in (select id from ids)
    union all
    select 'refresh tokens', t.id::text, pg_catalog.to_jsonb(t) from auth.refresh_tokens t
    where t.user_id in (select id::text from ids)
    union all
    select 'factors', f.id::text, pg_catalog.to_jsonb(f) from auth.mfa_factors f where f.user_id in (select id from ids)
    union all
    select 'challenges', c.id::text, pg_catalog.to_jsonb(c) from auth.mfa_challenges c
    join auth.mfa_factors f on f.id = c.factor_id where f.user_id in (select id from ids)
    union all
    select 'steps', s.factor_id::text, pg_catalog.to_jsonb(s) from auth.pgreflect_totp_steps s
    join auth.mfa_factors f on f.id = s.factor_id where f.user_id in (select id from ids)
    union all
    select 'one-time ' || t.token_type, t.id::text, pg_catalog.to_jsonb(t) from auth.one_time_tokens t
    where t.user_id in (select id from ids)
    union all
    select 'flows', f.id::text, pg_catalog.to_jsonb(f) from auth.flow_state f where f.user_id in (select id from ids)
    union all
    select 'audit ' || (e.payload ->> 'action'), e.id::text, pg_catalog.to_jsonb(e) from auth.audit_log_entries e
    where e.payload::text like '%' || $1 || '%' or e.payload ->> 'actor_id' in (select id::text from ids)
    union all
    select 'configuration', c.project_ref, pg_catalog.to_jsonb(c) from auth.pgreflect_config c where $3
    union all
    select 'versions', v.version::text, pg_catalog.to_jsonb(v) from auth.pgreflect_config_versions v where $3
  )
  select f.name || ':' || f.id as key, f."row" from found f`;

/** What has changed, without the values: \`users ~ email_confirmed_at, updated_at\`, \`sessions +1\`. */
function difference(before: State, after: State): readonly string[] {
  const counts = new Map<string, number>();
  const changes: string[] = [];
  const count = (key: string, by: number) => {
    const name = key.slice(0, key.indexOf(':'));
    counts.set(name, (counts.get(name) ?? 0) + by);
  };
  for (const [key, row] of before) {
    const now = after.get(key);
    if (now === undefined) count(key, -1);
    else {
      const columns = Object.keys(row).filter((name) => JSON.stringify(row[name]) !== JSON.stringify(now[name]));
      if (columns.length > 0) changes.push(`${key.slice(0, key.indexOf(':'))} ~ ${columns.sort().join(', ')}`);
    }
  }
  for (const key of after.keys()) if (!before.has(key)) count(key, 1);
  return [...changes, ...[...counts].map(([name, by]) => `${name} ${by < 0 ? '' : '+'}${by}`)].sort();
}

/** What must hold at any time; each finds the ids of rows where it does not. */
const invariants = {
  'a user with an address has an identity': `select u.id from auth.users u
    where u.email is not null and not exists (select from auth.identities i where i.user_id = u.id)`,
  'an identity belongs to a user': `select i.id from auth.identities i
    where not exists (select from auth.users u where u.id = i.user_id)`,
  'a session has exactly one refresh token that is good': `select s.id from auth.sessions s
    where (select count(*) from auth.refresh_tokens t where t.session_id = s.id and not t.revoked) <> 1`,
  'a session says how its user signed in': `select s.id from auth.sessions s
    where not exists (select from auth.mfa_amr_claims c where c.session_id = s.id)`,
  'a refresh token belongs to a session of its user': `select t.id from auth.refresh_tokens t
    where not exists (select from auth.sessions s where s.id = t.session_id and s.user_id::text = t.user_id)`,
  'a one-time token is that of its user': `select t.id from auth.one_time_tokens t join auth.users u on u.id = t.user_id
    where '' is not distinct from coalesce(case t.token_type
      when 'confirmation_token' then u.confirmation_token when 'recovery_token' then u.recovery_token
      when 'reauthentication_token' then u.reauthentication_token
      when 'email_change_token_new' then u.email_change_token_new
      when 'email_change_token_current' then u.email_change_token_current end, '')`,
  'the token of a user can be used': `select u.id from auth.users u
    cross join lateral (values ('confirmation_token', u.confirmation_token, u.confirmation_sent_at), ('recovery_token', u.recovery_token, u.recovery_sent_at),
      ('email_change_token_new', u.email_change_token_new, u.email_change_sent_at), ('email_change_token_current', u.email_change_token_current, u.email_change_sent_at),
      ('reauthentication_token', u.reauthentication_token, u.reauthentication_sent_at)) as c (type, hash, sent_at)
    where c.hash <> '' and (c.sent_at is null
      or not exists (select from auth.one_time_tokens t where t.user_id = u.id and t.token_type::text = c.type))`,
  'the configuration is its newest version': `select c.project_ref from auth.pgreflect_config c
    where c.version > 0 and not exists (
      select from auth.pgreflect_config_versions v
      where v.project_ref = c.project_ref and v.version = c.version and v.values = c.values
        and v.version = (select max(n.version) from auth.pgreflect_config_versions n where n.project_ref = c.project_ref))`,
};

async function expectInvariants(): Promise<void> {
  for (const [name, text] of Object.entries(invariants))
    expect([name, await auth.database.query(text)]).toEqual([name, []]);
}

/** A request that was held at a step. */
interface Held {
  readonly flow: string;
  readonly step: number;
  readonly email: string;
  readonly occasion: Occasion;
  readonly before: State;
}

/** What was learnt of a flow so far. */
interface Progress {
  /** The next step to kill at. */
  step: number;
  /** What a kill at each step has changed. */
  readonly kills: (readonly string[])[];
  /** What the request changes when nobody kills it; null until it was seen. */
  whole: readonly string[] | null;
}

/** Requests held at once: each has a connection of its own. */
const maxHeld = 30;
/** Emails on their way at once: a process keeps five connections to its mail server, and the next request needs two. */
const maxEmails = 3;

/** Runs flows on a process, each up to its next step, until enough are held. Flows that got to their end are noted. */
async function runRound(
  { ask, steps }: Process,
  progress: ReadonlyMap<string, Progress>,
  hashSentTo: HashSentTo,
): Promise<readonly Held[]> {
  const held: Held[] = [];
  let emailsHeld = 0;
  const isFull = () => held.length >= maxHeld;
  const mayRun = (name: string) => name !== configuration && !(sending.has(name) && emailsHeld >= maxEmails);
  const pending = () => [...progress].filter(([name, { whole }]) => whole === null && mayRun(name));
  const run = async (flow: string, known: Progress): Promise<void> => {
    // No one of them is part of another one.
    const email = `flow${Object.keys(flows).indexOf(flow)}.${known.step}@x.test`;
    steps.pass();
    const occasion = await flows[flow]!(email, ask, hashSentTo);
    const before = await readState(flow, email);
    const stopped = steps.hold(known.step);
    const answered = occasion.send(ask).catch(() => null);
    const end = await Promise.race([stopped, answered]);
    if (end === 'database' || end === 'mail server') {
      held.push({ flow, step: known.step, email, occasion, before });
      known.step += 1;
      if (end === 'mail server') emailsHeld += 1;
    } else {
      const { status = 0, text } = end ?? {};
      expect([flow, status, text]).toEqual([flow, expect.toSatisfy(() => status > 0 && status < 400), text]);
      known.whole = difference(before, await readState(flow, email, before));
    }
  };
  while (!isFull() && pending().length > 0) {
    for (const [name, known] of pending()) if (!isFull() && mayRun(name)) await run(name, known);
  }
  const config = progress.get(configuration);
  if (config?.whole === null) await run(configuration, config);
  return held;
}

test('a kill at any step of a request leaves the state before it or the one after it', async () => {
  const smtp = await startSmtpServer({ tls: 'none' });
  const hashSentTo: HashSentTo = (email) => {
    const message = smtp.messages.findLast(({ recipients }) => recipients.includes(email));
    return decodeURIComponent(
      /[?&]token=([^&"]+)/.exec(message?.parsed.html?.replaceAll('&amp;', '&') ?? '')?.[1] ?? '',
    );
  };
  const progress = new Map(
    Object.keys(flows).map((name): [string, Progress] => [name, { step: 1, kills: [], whole: null }]),
  );
  let next = startProcess(smtp);
  let held: readonly (Held & { readonly isDone: boolean })[] = [];
  for (let isOver = false; !isOver; ) {
    const current = await next;
    for (const { flow, step, occasion, isDone } of held) {
      const reply = await occasion.send(current.ask);
      await occasion.goOn(current.ask, reply, isDone).catch(async (error: Error) => {
        const where = `${flow}, killed at step ${step}, ${isDone ? 'done' : 'not done'}`;
        error.message = `${where}: ${error.message}\n${reply.text}\n${await current.warnings()}`;
        throw error;
      });
    }
    isOver = [...progress.values()].every(({ whole }) => whole !== null);
    if (isOver) break;
    next = startProcess(smtp);
    // Awaited after the round, which may fail first.
    next.catch(() => {});
    const round = await runRound(current, progress, hashSentTo);
    await current.kill();
    await expectInvariants();
    held = await Promise.all(
      round.map(async (one) => {
        const changed = difference(one.before, await readState(one.flow, one.email, one.before));
        progress.get(one.flow)?.kills.push(changed);
        return { ...one, isDone: changed.length > 0 };
      }),
    );
  }
  for (const [name, { kills, whole }] of progress) {
    // A step of something in the background may have been taken for one of the request, so their order tells nothing.
    const expected = kills.map((changed) => (changed.length === 0 ? [] : whole));
    expect([name, ...kills]).toEqual([name, ...expected]);
    expect([name, kills.some((changed) => changed.length > 0)]).toEqual([name, true]);
  }
}, 400_000);

test('an access token whose maker was killed before it was shown can be seen and revoked', async () => {
  const steps = createSteps();
  const postgres = await startPostgresProxy(steps, auth.database.url);
  onTestFinished(postgres.stop);
  const tokens = (...args: readonly string[]) =>
    runCommand(['tokens', ...args], { env: { DATABASE_URL: auth.database.url } });
  let stored = 0;
  for (let step = 1; ; step += 1) {
    const held = steps.hold(step);
    const maker = startCommand(['tokens', 'create', '--name', 'lost'], { env: { DATABASE_URL: postgres.url } });
    const shown = await Promise.race([held.then(() => null), maker.finished]);
    if (shown !== null) {
      expect(shown).toMatchObject({ out: expect.stringMatching(/^sbp_[0-9a-f]{40}$/m), code: 0 });
      break;
    }
    maker.signal('SIGKILL');
    expect((await maker.finished).out).toBe('');
    await rolledBack();
    const [id] = /^\S+(?=.*lost)/m.exec((await tokens('list')).out) ?? [];
    if (id === undefined) continue;
    stored += 1;
    expect((await tokens('revoke', id)).out).toMatch(/Revoked: .*lost/);
  }
  expect(stored).toBeGreaterThan(0);
});
