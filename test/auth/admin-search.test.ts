/**
 * Lists of users with what Supabase Auth lacks: an order, a cursor, states, providers, and search by any part.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { type TestAuth, testAuth } from '../support/auth-service.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const id = (n: number) => `6f1d5f3e-9d4b-4a8e-9a1e-${String(n).padStart(12, '0')}`;

/** Users 1 to n: made one a minute, every third has signed in, every fourth has no address. */
async function insertUsers(count: number): Promise<void> {
  await database.query('truncate auth.users cascade');
  await database.query(
    `insert into auth.users (instance_id, id, aud, role, email, phone, created_at, updated_at, last_sign_in_at,
      email_confirmed_at, raw_user_meta_data, raw_app_meta_data)
    select '00000000-0000-0000-0000-000000000000', ('6f1d5f3e-9d4b-4a8e-9a1e-' || lpad(n::text, 12, '0'))::uuid,
      'authenticated', 'authenticated', case when n % 4 <> 0 then 'user' || n || '@x.test' end,
      case when n % 4 = 0 then '4917' || lpad(n::text, 6, '0') end, t, t,
      case when n % 3 = 0 then t + interval '1 day' end, t, jsonb_build_object('full_name', 'Person ' || n), '{}'
    from generate_series(1, $1::int) n, lateral (select timestamptz '2026-01-01' + n * interval '1 minute') as m (t)`,
    [count],
  );
}

/** States that few users are in, and how they get there. */
const fewAre: Readonly<Record<string, string>> = {
  banned: "banned_until = now() + interval '1 year'",
  deleted: 'deleted_at = now()',
  anonymous: 'is_anonymous = true, email_confirmed_at = null',
  invited: 'invited_at = now(), email_confirmed_at = null',
};

const list = (auth: TestAuth, query: string) => auth.askAdmin(`/admin/users?${query}`);
const idsOf = ({ body }: { body: { users: { id: string }[] } }) => body.users.map((user) => Number(user.id.slice(-12)));

/** All pages of a list. */
async function walk(auth: TestAuth, query: string): Promise<readonly number[]> {
  const seen: number[] = [];
  for (let cursor = ''; ; ) {
    const page = await list(auth, `${query}&cursor=${cursor}`);
    expect(page.status).toBe(200);
    seen.push(...idsOf(page));
    if (page.body.next_cursor === null) return seen;
    cursor = page.body.next_cursor;
  }
}

test('users come in each order and direction, every one once, those without a value at one end', async () => {
  const auth = await testAuth(database);
  await insertUsers(25);
  const all = Array.from({ length: 25 }, (_, index) => index + 1);
  const byTime = [...all].reverse();
  const signedIn = byTime.filter((n) => n % 3 === 0);
  const never = byTime.filter((n) => n % 3 !== 0);
  const byAddress = all.filter((n) => n % 4 !== 0).sort((a, b) => (`user${a}@` < `user${b}@` ? -1 : 1));
  const without = all.filter((n) => n % 4 === 0);
  for (const size of [3, 25]) {
    const walked = (order: string) => walk(auth, `order=${order}&per_page=${size}`);
    expect(await walked('created_at.desc')).toEqual(byTime);
    expect(await walked('created_at.asc')).toEqual(all);
    expect(await walked('last_sign_in_at.desc')).toEqual([...signedIn, ...never]);
    expect(await walked('last_sign_in_at.asc')).toEqual([...signedIn, ...never].reverse());
    expect(await walked('email.asc')).toEqual([...byAddress, ...without]);
    expect(await walked('email.desc')).toEqual([...byAddress, ...without].reverse());
  }
  const { body } = await list(auth, 'order=email.asc&per_page=2');
  expect(body).toMatchObject({ aud: 'authenticated', total: 25, is_total_estimated: false });
  expect(body.users[0]).toMatchObject({ id: id(10), email: 'user10@x.test', identities: [] });
  // What Supabase Auth answers is as it was.
  expect(Object.keys((await list(auth, 'page=1&per_page=2')).body)).toEqual(['users', 'aud']);
});

test('users are found by state, each in one state alone, and by provider', async () => {
  const auth = await testAuth(database);
  await insertUsers(12);
  const set = (n: number, change: string) => database.query(`update auth.users set ${change} where id = $1`, [id(n)]);
  await set(1, "deleted_at = now(), banned_until = 'infinity'");
  await set(2, "banned_until = now() + interval '1 day', is_anonymous = true");
  await set(3, 'is_anonymous = true, email_confirmed_at = null');
  await set(4, 'email_confirmed_at = null, invited_at = now()');
  await set(5, 'email_confirmed_at = null');
  await set(6, "banned_until = now() - interval '1 day'");
  await database.query(
    `insert into auth.identities (id, user_id, provider, provider_id, identity_data, created_at, updated_at)
    select gen_random_uuid(), id, 'github', id, '{}', now(), now() from auth.users where id in ($1, $2)`,
    [id(5), id(6)],
  );
  const states = { deleted: [1], banned: [2], anonymous: [3], invited: [4], unconfirmed: [5] };
  for (const [state, expected] of Object.entries(states)) {
    const found = await list(auth, `state=${state}`);
    expect([state, idsOf(found), found.body.total]).toEqual([state, expected, 1]);
  }
  expect(await walk(auth, 'state=confirmed&per_page=2')).toEqual([12, 11, 10, 9, 8, 7, 6]);
  expect(idsOf(await list(auth, 'provider=github'))).toEqual([6, 5]);
  expect(idsOf(await list(auth, 'provider=github&state=confirmed&search=person'))).toEqual([6]);
  expect(idsOf(await list(auth, 'provider=gitlab'))).toEqual([]);
});

test('users are found by any part of address, number, name or id, whole ones first', async () => {
  const auth = await testAuth(database);
  await insertUsers(30);
  await database.query("update auth.users set email = 'user1@x.test.example' where id = $1", [id(30)]);
  await database.query("update auth.users set email = '100%_x@x.test' where id = $1", [id(29)]);
  const found = async (search: string) => idsOf(await list(auth, `search=${encodeURIComponent(search)}`));
  // At once, and the others on the next page.
  expect(await found('user1@x.test')).toEqual([1]);
  expect(await walk(auth, 'search=user1@x.test')).toEqual([1, 30]);
  expect(await found('SER21@')).toEqual([21]);
  expect(await found('Person 7')).toEqual([7]);
  expect(await found('+49 17 000-004')).toEqual([4]);
  expect(await found('000024')).toEqual([24]);
  expect(await found(id(12).toUpperCase())).toEqual([12]);
  expect(await found('9a1e-000000000013')).toEqual([13]);
  // No patterns.
  expect(await found('%_')).toEqual([29]);
  expect(await found("' or true --")).toEqual([]);
  expect(await walk(auth, 'search=user1&per_page=1')).toEqual([30, 19, 18, 17, 15, 14, 13, 11, 10, 1]);
  expect((await list(auth, 'search=user1')).body.total).toBeNull();
});

describe('of many users', () => {
  // The older third is at the provider. Three numbers of a thousand are in no usual state.
  const [many, atProvider] = [38_000, 12_000];
  beforeAll(async () => {
    await insertUsers(many);
    await database.query(
      `insert into auth.identities (user_id, provider, provider_id, identity_data)
      select id, 'google', id::text, '{}' from auth.users order by created_at limit ${atProvider}`,
    );
    for (const [at, change] of Object.values(fewAre).entries())
      await database.query(`update auth.users set ${change} where right(id::text, 3) = '00${at}'`);
    await database.query('analyze auth.users, auth.identities');
  });

  test('a search looks at a limited number of rows, and its cursor goes on where it stopped', async () => {
    const auth = await testAuth(database);
    const { body } = await list(auth, 'search=user1@x.tes');
    expect([body.users, typeof body.next_cursor]).toEqual([[], 'string']);
    expect(await walk(auth, 'search=user1@x.tes')).toEqual([1]);
    expect(await walk(auth, 'search=user1@x.tes&order=created_at.asc')).toEqual([1]);
    const { total, is_total_estimated: isEstimated } = (await list(auth, 'order=created_at.asc')).body;
    expect([isEstimated, Math.round((10 * total) / many)]).toEqual([true, 10]);
  });

  test('users of a provider that many have are examined in their order, a limited number at a time', async () => {
    const auth = await testAuth(database);
    const first = await list(auth, 'provider=google');
    expect([first.body.users, typeof first.body.next_cursor]).toEqual([[], 'string']);
    expect([first.body.is_total_estimated, Math.round((10 * first.body.total) / atProvider)]).toEqual([true, 10]);
    const newestFirst = Array.from({ length: atProvider }, (_, index) => atProvider - index);
    expect(await walk(auth, 'provider=google&per_page=1000')).toEqual(newestFirst);
    const banned = newestFirst.filter((n) => n % 1000 === 0);
    expect(await walk(auth, 'provider=google&state=banned')).toEqual(banned);
    expect((await list(auth, 'provider=google&state=banned')).body).toMatchObject({
      total: banned.length,
      is_total_estimated: false,
    });
    // So many would have to be examined.
    expect((await list(auth, 'provider=google&state=confirmed')).body.total).toBeNull();
    expect(await walk(auth, 'provider=google&search=user7@x.test')).toEqual([7]);
    expect(await walk(auth, 'provider=google&search=user20001@x.test')).toEqual([]);
  });

  test('a list of a state that few users are in reads those alone', async () => {
    const auth = await testAuth(database);
    for (const state of Object.keys(fewAre)) {
      expect(await walk(auth, `state=${state}`)).toHaveLength(38);
      const name = `pgreflect_users_${state}_idx`;
      const scans = async () =>
        (await database.query('select idx_scan from pg_stat_user_indexes where indexrelname = $1', [name]))[0]!
          .idx_scan;
      await expect.poll(async () => [state, Number(await scans()) > 0]).toEqual([state, true]);
    }
  });
});

test('a list with parameters that do not fit is refused with the reason', async () => {
  const auth = await testAuth(database);
  await insertUsers(3);
  const { next_cursor: cursor } = (await list(auth, 'order=email.asc&per_page=1')).body;
  const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  for (const query of [
    'order=password.asc',
    'state=happy',
    'order=email.asc&page=2',
    'search=a&filter=b',
    'search=a%00b',
    `search=${'a'.repeat(256)}`,
    `order=email.desc&cursor=${cursor}`,
    'cursor=x',
    `cursor=${forged(['created_at.desc', 'no time', id(1)])}`,
    `cursor=${forged(['created_at.desc', "2026-01-01') or true --", id(1)])}`,
    `cursor=${forged(['created_at.desc', null, "x' or true --"])}`,
    `cursor=${forged({})}`,
  ]) {
    const { status, body } = await list(auth, query);
    expect([query, status, body.message]).toEqual([query, 400, expect.stringMatching(/^Bad Search Parameters: /)]);
  }
});
