/**
 * Types of functions tell what the role may not see: columns of hidden tables, composite types of other schemas. Or somebody who may create
 * functions in an exposed schema plants a namesake that others would run.
 */
import { describe, expect, test } from 'vitest';
import { type Json, startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';
import { modelReader } from '../support/read-model.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true, "introspection": true})';
  create schema vault;
  create type vault.hidden_pair as (secret_pin int, secret_name text);
  create type closed_pair as (closed_pin int, closed_name text); revoke usage on type closed_pair from public;
  create table payroll (id int primary key, secret_salary int);
  create table vault.ledger (id int primary key, secret_sum int);
  create table patron (id int primary key, name text); grant select on patron to anon;
  insert into payroll values (1, 1000); insert into patron values (1, 'Ann');

  create function pair_of() returns vault.hidden_pair stable security definer language sql as $$ select row(1, 'x')::vault.hidden_pair $$;
  create function pairs_of() returns setof vault.hidden_pair stable security definer language sql as $$ select row(1, 'x')::vault.hidden_pair $$;
  create function closed_of() returns closed_pair stable security definer language sql as $$ select row(1, 'x')::closed_pair $$;
  create function payroll_of() returns payroll stable security definer language sql as 'select * from payroll limit 1';
  create function payrolls() returns setof payroll stable security definer language sql as 'select * from payroll';
  create function ledgers() returns setof vault.ledger stable security definer language sql as 'select * from vault.ledger';
  create function patron_ledger(patron) returns vault.hidden_pair stable security definer language sql as $$ select row(1, 'x')::vault.hidden_pair $$;
  create function inner_pair() returns table (id int, hidden vault.hidden_pair, closed closed_pair, pay payroll, pays payroll[]) stable security definer
    language sql as 'select 1, null::vault.hidden_pair, null::closed_pair, null::payroll, null::payroll[]';
  create table half (id int primary key, shown text, secret_half text); grant select (id, shown) on half to anon;
  create function take_half(n int, given half) returns text stable security definer language sql as 'select given.secret_half';
  create function take_halves(n int, given half[]) returns text stable security definer language sql as 'select given[1].secret_half';
  create function take_pair(given vault.hidden_pair) returns int stable security definer language sql as 'select given.secret_pin';
  create function take_closed(given closed_pair) returns int stable security definer language sql as 'select given.closed_pin';
  create function take_payroll(n int, given payroll) returns int stable security definer language sql as 'select given.secret_salary';
  create function take_ledger(n int, given vault.ledger) returns int stable security definer language sql as 'select given.secret_sum';
  create type carrier as (id int, hidden vault.hidden_pair, closed closed_pair, pay payroll, halves half[]);
  create function take_carrier(given carrier) returns text stable language sql as 'select given::text';
  create function guarded() returns table (guarded_column int) stable language sql as 'select 1';
  revoke execute on function guarded from public;
`);
const execution = await startExecution(database, { introspection: 'always' });
const secrets = /secret_?|closed_?|pin|salary|Ledger|Payroll|HiddenPair|guarded/i;

describe('what a role may not see', () => {
  test('what a role may not see is in no type of its schema, and no suggestion names it', async () => {
    const { __schema } = await execution.data(
      'anon',
      '{ __schema { types { name fields { name args { name } } inputFields { name } } } }',
    );
    const names = __schema.types.flatMap(({ name, fields, inputFields }: Json) => [
      ...(name.startsWith('__') ? [] : [name]),
      ...(fields ?? []).flatMap((field: Json) => [field.name, ...field.args.map((argument: Json) => argument.name)]),
      ...(inputFields ?? []).map((field: Json) => field.name),
    ]);
    expect(names.filter((name: string) => secrets.test(name))).toEqual([]);
    expect(names).toContain('InnerPairResult');
    for (const field of [
      'pairOf',
      'pairsOf',
      'closedOf',
      'payrollOf',
      'payrolls',
      'ledgers',
      'guarded',
      'takePair',
      'takeClosed',
      'takePayroll',
      'takeLedger',
    ])
      expect((await execution.errors('anon', `{ ${field} { id } }`))[0], field).toMatch(/^Cannot query field/);
    expect(await execution.errors('anon', '{ innerPair { hidden { secretPin } } }')).toHaveLength(1);
    const [message] = await execution.errors('anon', '{ takeHalf(n: 1, given: {secretHal: "x"}) }');
    expect(message).toContain('not to include unknown field "secretHal"');
    expect(message).not.toContain('secretHalf');
    // What cannot be given is null.
    expect(
      await execution.data(
        'anon',
        '{ takeHalf(n: 1, given: {id: 1, shown: "x"}) takeHalves(n: 1, given: {shown: "x"}) takeCarrier(given: {id: 1, halves: {id: 2}}) }',
      ),
    ).toEqual({
      takeHalf: null,
      takeHalves: null,
      takeCarrier: '(1,,,,"{""(2,,)""}")',
    });
    expect(await execution.data('anon', '{ innerPair { id } }')).toEqual({ innerPair: [{ id: 1 }] });
  });

  test('what a role may not see is seen by a role that may', async () => {
    await database.query('grant select on payroll to service_role; grant execute on function guarded to service_role');
    await execution.reload();
    expect(await execution.data('service_role', '{ payrollOf { secretSalary } guarded { guardedColumn } }')).toEqual({
      payrollOf: { secretSalary: 1000 },
      guarded: [{ guardedColumn: 1 }],
    });
  });
});

describe('a namesake that somebody else plants', () => {
  test('a namesake that somebody else plants takes no call of a function that its comment names', async () => {
    const planted = await createDatabase(`
      comment on schema public is '@graphql({"inflect_names": true})';
      create table seen (who text); grant insert on seen to public;
      create function price(of_item int) returns int stable language sql as 'select of_item * 10';
      comment on function price is '@graphql({"name": "priceOf"})';
      create function sum_of(variadic numbers int[]) returns int stable language sql as 'select sum(n)::int from unnest(numbers) n';
      comment on function sum_of is '@graphql({"name": "sumOf"})';
      create function listed(lowest int) returns table (number int) stable language sql as 'select lowest';
      comment on function listed is '@graphql({"name": "listedFrom"})';
    `);
    const victim = await startExecution(planted, {});
    const query = '{ priceOf(ofItem: 4) sumOf(numbers: [1, 2]) listedFrom(lowest: 3) { number } }';
    const honest = { priceOf: 40, sumOf: 3, listedFrom: [{ number: 3 }] };
    expect(await victim.data('anon', query)).toEqual(honest);
    const body = (result: string) =>
      `as $$ begin insert into seen values (current_user); return ${result}; end $$ language plpgsql`;
    const traps = [
      `create function price(of_item bigint) returns int ${body('1')}`,
      `create function price(of_item int, more int default 0) returns int ${body('1')}`,
      `create function price(of_item text) returns int ${body('1')}`,
      `create function price(variadic of_item int[]) returns int ${body('1')}`,
      `create function price(of_item anyelement) returns int ${body('1')}`,
      `create function sum_of(numbers bigint[]) returns int ${body('1')}`,
      `create function sum_of(more int, variadic numbers int[] default '{}') returns int ${body('1')}`,
      `create function sum_of(variadic numbers bigint[]) returns int ${body('1')}`,
      `create function listed(lowest numeric) returns table (number int) as $$ begin insert into seen values (current_user); return query select 1; end $$ language plpgsql`,
    ];
    for (const trap of traps) {
      await planted.query(trap);
      const { errors } = await victim.run('anon', query);
      // At worst PostgreSQL does not know which of them is meant.
      for (const error of errors ?? []) expect(error.message, trap).not.toContain('seen');
      await victim.reload();
      const again = await victim.run('anon', query);
      if (again.data && !again.errors) expect(again.data, trap).toEqual(honest);
      expect(await planted.query('select who from seen'), trap).toEqual([]);
      const signature = /function (.*?\)) returns/.exec(trap)![1]!.replace(/ default .*?(?=[,)])/g, '');
      await planted.query(`drop function ${signature}`);
      await victim.reload();
      expect(await victim.data('anon', query), trap).toEqual(honest);
    }
  });

  test('without a name of its own takes no field, and check names it', async () => {
    const planted = await createDatabase(`
      create function price(of_item int) returns int stable language sql as 'select 1';
      comment on function price is '@graphql({"name": "price_of"})';
      create function price(of_item text) returns int volatile language sql as 'select 2';
    `);
    const omissions = await modelReader(planted).omissions(['public']);
    expect(omissions.map(({ reason }) => reason)).toContain(
      'Function public.price(text) shares its name with another function, and has no name of its own in its comment.',
    );
  });
});
