/**
 * `pgreflect users`: users of other systems come in with their passwords, and leave with all that they have.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { testAuth } from '../support/auth-service.ts';
import { appOf, factorsOf } from '../support/factors.ts';
import { createAuthDatabase, createDatabase, type TestDatabase } from '../support/postgres.ts';
import { supabaseClient } from '../support/supabase-js.ts';
import { runCommand, temporaryDirectory } from './run-command.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

/** Of the password "password". */
const argon2 = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
const pbkdf2 = '$pbkdf2-sha1$i=4096$c2FsdA==$SwB5AbdlSJq+rUnZJvch0GWkKcE=';
const bcrypt = '$2y$04$NQS00rLeg0ySE380rRUUpeDwJqw8zEjJHcz2EKA1kmfpKdX1XCs0y';
/** Of "user1password": Firebase's own example. */
const firebase = [
  '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==',
  '42xEC+ixf3L2lw==',
  'lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
].join('$');

const email_confirmed_at = '2026-01-31T12:00:00Z';

/** Runs a command with a file of these lines. */
async function importLines(lines: readonly unknown[], args: readonly string[] = [], into = database) {
  const directory = temporaryDirectory();
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  writeFileSync(join(directory, 'users.jsonl'), text);
  return runCommand(['users', 'import', 'users.jsonl', ...args], { env: { DATABASE_URL: into.url }, directory });
}

async function exported(from: TestDatabase): Promise<string> {
  const directory = temporaryDirectory();
  const { code, out } = await runCommand(['users', 'export', 'out'], { env: { DATABASE_URL: from.url }, directory });
  expect([code, out]).toEqual([0, expect.stringMatching(/^Exported \d+ users?\.\n$/)]);
  return readFileSync(join(directory, 'out'), 'utf8');
}

const count = async (where = 'true') =>
  (await database.query<{ n: number }>(`select count(*)::int as n from auth.users where ${where}`))[0]?.n;

test('users sign in with the passwords, identities and second factors that they had elsewhere', async () => {
  const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
  const [ana, app] = [randomUUID(), randomUUID()];
  const factors = [{ id: app, factor_type: 'totp', friendly_name: 'phone', secret }];
  const { code, out, err } = await importLines([
    { id: ana, email: 'Ana@Mail.test', email_confirmed_at, password_hash: bcrypt, factors, created_at: '2020-02-29' },
    { email: 'argon2@mail.test', email_confirmed_at, password_hash: argon2, user_metadata: { name: "O'Neil <b>" } },
    { email: 'pbkdf2@mail.test', email_confirmed_at, password_hash: pbkdf2, app_metadata: { plan: 'pro' } },
    '',
    { email: 'firebase@mail.test', email_confirmed_at, password_hash: firebase },
    { phone: '+49 151 12345678', phone_confirmed_at: email_confirmed_at, password_hash: argon2 },
    { email: 'new@mail.test', password_hash: argon2 },
    { email: 'banned@mail.test', email_confirmed_at, password_hash: argon2, banned_until: 'infinity' },
    { email: 'g@mail.test', email_confirmed_at, identities: [{ provider: 'google', provider_id: '117' }] },
    { is_anonymous: true },
  ]);
  expect([err, out, code]).toEqual(['', 'Imported 9 users.\n', 0]);

  const auth = await testAuth(database, { external_phone_enabled: true });
  const signIn = async (who: object, password = 'password') => {
    const { data, error } = await supabaseClient(auth.url).auth.signInWithPassword({ ...who, password });
    return error?.code ?? data.user;
  };
  expect(await signIn({ email: 'ana@mail.test' })).toMatchObject({
    id: ana,
    email: 'ana@mail.test',
    role: 'authenticated',
    app_metadata: { provider: 'email', providers: ['email'] },
    created_at: '2020-02-29T00:00:00Z',
    identities: [{ provider: 'email', id: ana, identity_data: { email: 'ana@mail.test', email_verified: true } }],
  });
  expect(await signIn({ email: 'argon2@mail.test' })).toMatchObject({ user_metadata: { name: "O'Neil <b>" } });
  const pro = { app_metadata: { plan: 'pro', provider: 'email' } };
  expect(await signIn({ email: 'pbkdf2@mail.test' })).toMatchObject(pro);
  expect(await signIn({ email: 'firebase@mail.test' }, 'user1password')).toMatchObject({ aud: 'authenticated' });
  expect(await signIn({ phone: '+4915112345678' })).toMatchObject({ phone: '4915112345678' });
  const refused = ['new@mail.test', 'banned@mail.test', 'g@mail.test'].map((email) => signIn({ email }));
  expect(await Promise.all(refused)).toEqual(['email_not_confirmed', 'user_banned', 'invalid_credentials']);
  // Somebody else may have entered the password of an address that nobody has proved.
  await auth.ask('/resend', { type: 'signup', email: 'new@mail.test' });
  const { code: token } = await auth.message('new@mail.test');
  const proved = await auth.ask('/verify', { type: 'email', email: 'new@mail.test', token });
  expect([proved.status, await signIn({ email: 'new@mail.test' })]).toEqual([200, 'invalid_credentials']);
  // Each password that was used has a hash as new ones have.
  expect(await count(`encrypted_password ~ '^[$]2[by][$]04'`)).toBe(5);

  const { body } = await auth.ask('/token?grant_type=password', { email: 'ana@mail.test', password: 'password' });
  const answered = await factorsOf(auth, body.access_token).answer(app, appOf(auth, app, secret).code());
  expect(answered).toMatchObject({ status: 200, body: { user: { id: ana } } });
});

test('an export is imported elsewhere as the same rows, and only its owner can read it', async () => {
  const id = randomUUID();
  await importLines([
    { id, email: `${id}@mail.test`, password_hash: argon2, invited_at: '2026-03-01T10:00:00.123456+02' },
    // JavaScript would round the number.
    `{"email": "digits@mail.test", "user_metadata": {"n": 12345678901234567890.5, "é": "\\u2028\\"\\\\"}}`,
    { email: 'sso@mail.test', is_sso_user: true, identities: [{ provider: `sso:${id}`, provider_id: 'x' }] },
    `{"email": "float@mail.test", "user_metadata": {"n": [1e308, 1E-300, 2.5e+21, "1e999"]}}`,
    { email: 'SSO@mail.test', is_sso_user: true, role: 'service_role', aud: 'other' },
  ]);
  await database.query(`update auth.users set deleted_at = now(), email = 'aGFzaA' where email = 'digits@mail.test'`);
  const lines = await exported(database);
  expect(lines).toContain('12345678901234567890.5');

  const copy = await createAuthDatabase();
  expect((await importLines([lines], [], copy)).err).toBe('');
  expect(await exported(copy)).toBe(lines);
  const rows = `select (select json_agg(u order by u.id) from auth.users u) as users,
    (select json_agg(i order by i.id) from auth.identities i) as identities,
    (select json_agg(f.id || f.secret || f.status) from auth.mfa_factors f) as factors`;
  expect(await copy.query(rows)).toEqual(await database.query(rows));

  const directory = temporaryDirectory();
  const run = () => runCommand(['users', 'export', 'out'], { env: { DATABASE_URL: copy.url }, directory });
  expect((await run()).err).toContain('has password hashes and secrets of second factors');
  expect(statSync(join(directory, 'out')).mode & 0o777).toBe(0o600);
  writeFileSync(join(directory, 'out'), 'mine');
  expect(await run()).toMatchObject({ code: 1, err: expect.stringContaining('"out" is there already') });
  expect(readFileSync(join(directory, 'out'), 'utf8')).toBe('mine');
  expect(existsSync(join(directory, 'out.part'))).toBe(false);
  rmSync(join(directory, 'out'));
  writeFileSync(join(directory, 'out.part'), 'mine');
  expect(await run()).toMatchObject({ code: 1, err: expect.stringContaining('"out.part" is there already') });
  expect(readFileSync(join(directory, 'out.part'), 'utf8')).toBe('mine');
  expect(existsSync(join(directory, 'out'))).toBe(false);
});

test('a user who is there already stays as they are, and an import may be repeated', async () => {
  const id = randomUUID();
  const identities = [{ provider: 'github', provider_id: id }];
  const first = { id, email: `${id}@x.test`, phone: '49301234567', identities, user_metadata: { n: 1 } };
  const lines = [
    first,
    { email: `${id}@X.test`, user_metadata: { n: 2 } },
    { phone: '49301234567' },
    { email: `b${id}@x.test`, identities },
    { email: 'by.hand@mail.test' },
  ];
  await database.query(
    `insert into auth.users (instance_id, id, email) values
    ('00000000-0000-0000-0000-000000000000', gen_random_uuid(), 'By.Hand@mail.test')`,
  );
  const notes = [
    'line 2: left out; another user has the same email.',
    'line 3: left out; another user has the same phone.',
    'line 4: left out; another user has the same identity.',
    'line 5: left out; another user has the same email.',
  ];
  const before = await count();
  const trial = await importLines(lines, ['--dry-run']);
  expect([trial.out, await count()]).toEqual(['Would import 1 user.\n', before]);
  const { code, out, err } = await importLines(lines);
  expect([code, out, err]).toEqual([
    0,
    'Imported 1 user.\n',
    `${notes.join('\n')}\nLeft out for the reasons above: 4 users.\n`,
  ]);
  const again = await importLines([{ ...first, user_metadata: { n: 3 } }, ...lines.slice(1)]);
  expect([again.code, again.out]).toEqual([0, 'Imported 0 users.\n']);
  expect(again.err).toContain(notes.join('\n'));
  expect(again.err).toContain('There already, and not changed: 1 user.');
  expect([await count(), await count(`id = '${id}' and raw_user_meta_data = '{"n": 1}'`)]).toEqual([before! + 1, 1]);
});

describe('a bad line is named, and nothing is stored', () => {
  test('whatever is wrong with it', async () => {
    const email = 'bad@bad.test';
    const factor = (facts: object) => ({ email, factors: [{ factor_type: 'totp', ...facts }] });
    const cases: readonly (readonly [unknown, string])[] = [
      [{ email: 'good@bad.test' }, ''],
      ['[]', 'is not a JSON object'],
      [{ email: 'no address' }, 'email: Unable to validate email address: invalid format'],
      [{ emial: email }, 'has an unknown field "emial"; did you mean "email"?'],
      [{ email: 1 }, 'field "email" is not a string'],
      [{}, 'needs "email", "phone" or "identities"'],
      [{ email, id: '7' }, 'id is not a UUID'],
      [{ email, phone: 'x' }, 'phone: Invalid phone number format (E.164 required)'],
      [{ email, role: 'none' }, 'role: must be the name of a role, and "none" is not one'],
      [{ email, password_hash: 'md5:5f4d' }, 'password_hash: The password hash is of an unknown kind, so it cannot'],
      [
        { email, password_hash: argon2.replace('65536', '4194304') },
        'password_hash: The Argon2 hash is malformed or has parameters out of range',
      ],
      [{ email, created_at: 'now' }, 'created_at is not a time such as 2026-01-31T12:00:00Z'],
      [{ email, created_at: '2026-02-30' }, 'was refused by PostgreSQL: date/time field value out of range'],
      [{ email, user_metadata: { text: '\0' } }, 'The value of "user_metadata" has text that cannot be stored'],
      [{ email, user_metadata: { text: 'x'.repeat(20_000) } }, 'Metadata of a user may have 16 kB of JSON at most'],
      [{ email, identities: [{ provider: 'google' }] }, 'identities[0].provider_id is missing'],
      [{ email, identities: [{ provider: 'a\u001b[2J', provider_id: '1' }] }, 'identities[0].provider is not the name'],
      [factor({ secret: '{"key_id":"x"}' }), 'factors[0].secret is encrypted'],
      [factor({ secret: 'AAAA' }), 'factors[0].secret must be base32 of at least 10 bytes'],
      [factor({ secret: 'A'.repeat(32), status: 'maybe' }), 'factors[0].status must be verified or unverified'],
      [{ email, factors: [{ factor_type: 'webauthn' }] }, 'factors[0].factor_type must be totp or phone'],
      [{ '\u001b[2J\n\u202e': 1 }, 'has an unknown field "\\u001b[2J\\n\\u202e"'],
      [{ email: "'); drop table auth.users; --@bad.test" }, 'email: Unable to validate email address'],
      [
        '{"email": "bad@bad.test", "user_metadata": {"n": [1, -1.5E131000]}}',
        'has the number -1.5E131000, which is too large',
      ],
      [
        `{"email": "bad@bad.test", "app_metadata": {"n": [${Array(1000).fill('1e-4000').join()}]}}`,
        'has numbers of too many digits: more than 1048576 when written out',
      ],
    ];
    const { code, out, err } = await importLines(cases.map(([line]) => line));
    expect([code, out]).toEqual([1, '']);
    for (const [at, [, reason]] of cases.entries())
      if (reason !== '') expect(err).toContain(`line ${at + 1} ${reason}`);
    expect(err).toContain('No user was imported.');
    expect(await count(`email like '%bad.test'`)).toBe(0);
  });

  test('by a batch that PostgreSQL refuses, and by a trigger', async () => {
    const strict = await createAuthDatabase();
    await strict.query(
      `create table public.refused (email text);
      insert into public.refused values ('u1499@many.test');
      create function public.check_user() returns trigger language plpgsql security definer set search_path = '' as $$
      begin
        if exists (select from public.refused r where r.email = new.email) then raise exception 'not this one'; end if;
        return new;
      end $$;
      create trigger check_user before insert on auth.users for each row execute function public.check_user()`,
    );
    const lines = Array.from({ length: 1_600 }, (_, at) => ({ email: `u${at}@many.test` }));
    const { err } = await importLines([...lines, { email: 'u3@MANY.test' }], [], strict);
    expect(err).toContain('line 1500 was refused by PostgreSQL: not this one.');
    expect(err).toContain('line 1601: left out; another user has the same email.');
    expect(await strict.query('select id from auth.users')).toEqual([]);
    await strict.query('delete from public.refused');
    expect((await importLines(lines, [], strict)).out).toBe('Imported 1600 users.\n');
  });

  test('of a file that is no lines at all', async () => {
    const { err } = await importLines([`{"users":"${'x'.repeat(1_100_000)}`]);
    expect(err).toContain('line 1 has more than 1048576 bytes.');
    const noise = Array.from({ length: 300 }, () => 'x');
    const { err: many } = await importLines(noise);
    expect(many.match(/is not a JSON object/g)).toHaveLength(100);
  });
});

test('what is missing is named', async () => {
  const env = { DATABASE_URL: database.url };
  const errors = [];
  for (const args of [
    ['import'],
    ['imprt'],
    ['import', 'nowhere.jsonl'],
    ['import', '.'],
    ['export', 'x', '--dry-run'],
  ])
    errors.push((await runCommand(['users', ...args], { env, directory: temporaryDirectory() })).err);
  expect(errors.join('')).toMatch(
    /needs a file[\s\S]*Did you mean pgreflect users import[\s\S]*no such file[\s\S]*is a directory[\s\S]*takes no --dry-run/,
  );
  const bare = await createDatabase();
  expect((await importLines([{ email: 'a@b.test' }], [], bare)).err).toContain('This database has no auth tables.');
});
