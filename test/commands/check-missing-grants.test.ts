/** What `pgreflect check` proposes to grant: what brings a function into the API, and nothing that it refuses afterwards. */
import { describe, expect, test } from 'vitest';
import { createDatabase } from '../support/postgres.ts';
import { findings } from './check-findings.ts';

describe('a function that a role may not call', async () => {
  const database = await createDatabase(`
    create function reset(a int) returns int language sql security definer set search_path = '' as 'select a';
    create function clean() returns int language sql security definer set search_path = '' as 'select 1';
    create function open(a int) returns int language sql stable as 'select a';
    create function unnamed(int) returns int language sql stable as 'select 1';
    create function twice() returns int language sql stable as 'select 1';
    create function twice(a int) returns int language sql stable as 'select 1';
    create function odd("a b" int) returns int language sql stable as 'select 1';
    revoke execute on all functions in schema public from public;
  `);
  const missing = async (role: string) =>
    (await findings(database, '--only', 'not_granted')).filter(({ object }) => object === role);

  test('a function that a role may not call is proposed where the grant brings it into the API', async () => {
    expect((await missing('authenticated')).map(({ message, fix }) => [message, fix])).toEqual([
      [
        'Role "authenticated" has no EXECUTE on 2 functions: public.reset, public.clean, which run with the rights of the owner.',
        '-- Where it is meant to do there what the owner may:\n-- grant execute on routine public.reset, public.clean to authenticated;',
      ],
      [
        'Role "authenticated" has no EXECUTE on public.open.',
        '-- Where it is meant to reach them, after policies guard the rows:\n-- grant execute on routine public.open to authenticated;',
      ],
    ]);
  });

  test('a function that a role may not call is not proposed to visitors if it runs as its owner, which is warned of', async () => {
    expect((await missing('anon')).map(({ fix }) => fix)).toEqual([
      null,
      '-- Where it is meant to reach them, after policies guard the rows:\n-- grant execute on routine public.open to anon;',
    ]);
    for (const { fix } of await findings(database, '--only', 'not_granted')) {
      if (fix) await database.query(fix.replaceAll(/^-- (?=grant)/gm, ''));
    }
    expect(await findings(database, '--only', 'definer_callable')).toEqual([]);
    expect((await findings(database, '--only', 'not_granted')).map(({ object, fix }) => [object, fix])).toEqual([
      ['anon', null],
    ]);
  });
});
