/** The function of `pgrst.db_pre_request`: runs before each request, in its transaction, as its role, and may refuse it. */
import { beforeEach, describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  create table item (id int primary key, owner text);
  insert into item values (1, 'ada');
  create table seen (role text, sub text, path text);
  alter table item enable row level security;
  create policy own on item using (current_setting('app.open', true) is distinct from 'no') with check (true);
  create function current_sub() returns text stable language sql as
    $$ select current_setting('request.jwt.claims', true)::json ->> 'sub' $$;
  create schema guard;
  grant usage on schema guard to anon, authenticated;
  create function guard.check_request() returns void language plpgsql as $$
    begin
      insert into public.seen values (current_user, public.current_sub(), current_setting('request.path'));
      case public.current_sub()
        when 'banned' then raise exception 'You are banned.' using errcode = 'PT403', hint = 'Write to us.';
        when 'barred' then raise insufficient_privilege using message = 'No entry.';
        when 'closed' then perform set_config('app.open', 'no', true);
        when 'raised' then set local role authenticated;
        when 'forged' then perform set_config('request.jwt.claims', '{"sub": "ada"}', true);
        when 'wrong' then perform current_setting('request.jwt.claims')::json ->> 'number' = 1::text, (current_setting('request.jwt.claims')::json ->> 'number')::int;
        else null;
      end case;
    end $$;
  revoke execute on function guard.check_request() from public;
  grant execute on function guard.check_request() to anon;
  grant select, insert on item to anon, authenticated;
  grant select, insert on seen to anon;
`);
const set = (value: string) =>
  database.query(`alter role authenticator in database ${database.name} set pgrst.db_pre_request = '${value}'`);
await set('guard.check_request');
const execution = await startExecution(database, { readOnlyQueries: true });
const items = '{ itemCollection { edges { node { id } } } }';
const as = (sub: string, query = items, more: Record<string, unknown> = {}) =>
  execution.run('anon', query, { claims: { sub, ...more } });
const seen = () => database.query('select * from seen');
const one = { itemCollection: { edges: [{ node: { id: 1 } }] } };

beforeEach(async () => {
  await database.query('truncate seen; delete from item where id > 1');
});

describe('the function', () => {
  test('the function runs once in each request, with its role, claims and path, and may write in queries, too', async () => {
    expect(await as('ada')).toEqual({ data: one });
    expect(await as('ada', '{ __typename }')).toEqual({ data: { __typename: 'Query' } });
    const two = `mutation {
      a: insertIntoitemCollection(objects: [{id: 2}]) { affectedCount } b: insertIntoitemCollection(objects: [{id: 3}]) { affectedCount } }`;
    expect(await as('ada', two)).toEqual({ data: { a: { affectedCount: 1 }, b: { affectedCount: 1 } } });
    expect(await seen()).toEqual(Array(3).fill({ role: 'anon', sub: 'ada', path: '/graphql/v1' }));
  });

  test('the function refuses a request by an error, which is told as that of any function, and nothing is written', async () => {
    const insert = 'mutation { insertIntoitemCollection(objects: [{id: 2}]) { affectedCount } }';
    for (const query of [items, insert, '{ __typename }']) {
      const extensions = { code: 'RAISED', sqlstate: 'PT403', hint: 'Write to us.' };
      expect(await as('banned', query)).toEqual({ data: null, errors: [{ message: 'You are banned.', extensions }] });
      const barred = { code: 'PERMISSION_DENIED', sqlstate: '42501' };
      expect((await as('barred', query)).errors).toMatchObject([{ extensions: barred }]);
    }
    expect(await seen()).toEqual([]);
    expect(await database.query('select id from item')).toEqual([{ id: 1 }]);
  });

  test('the function makes settings of its own, which policies see', async () => {
    expect(await as('closed')).toEqual({ data: { itemCollection: { edges: [] } } });
  });

  test.each(['raised', 'forged'])('that makes the caller another one refuses the request (%s)', async (sub) => {
    expect(await as(sub)).toMatchObject({ data: null, errors: [{ extensions: { code: 'INTERNAL' } }] });
  });

  test('the function fails for what a caller sends, also if that reads like an error of the gateway', async () => {
    for (const number of ['pgreflect:stale:1', 'pgreflect:connection:1', 'pgreflect:temporary:1']) {
      const { data, errors } = await as('wrong', items, { number });
      expect([data, errors[0].extensions.code]).toEqual([null, 'BAD_USER_INPUT']);
    }
  });

  test('the function must be executable for the role', async () => {
    const { data, errors } = await execution.run('authenticated', items);
    expect([data, errors[0].extensions.code]).toEqual([null, 'PERMISSION_DENIED']);
  });
});

test('a setting that changes holds from the next reading of the catalog, and a missing function refuses all', async () => {
  await set('guard.no_such');
  expect(await execution.compare()).toBe(true);
  expect(await as('ada')).toMatchObject({ data: null, errors: [{ extensions: { code: 'INTERNAL' } }] });
  await database.query(`alter role authenticator in database ${database.name} reset pgrst.db_pre_request`);
  expect(await execution.compare()).toBe(true);
  expect(await as('banned')).toEqual({ data: one });
  // Without a schema, that of the API counts.
  await database.query(`create function check_all() returns void language plpgsql as $$ begin raise 'Closed.'; end $$`);
  await set('check_all');
  expect(await execution.compare()).toBe(true);
  expect((await as('ada')).errors).toMatchObject([{ message: 'Closed.', extensions: { code: 'RAISED' } }]);
});
