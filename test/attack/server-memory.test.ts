/**
 * What callers send fills no server process: some of its caches are never freed, and would grow with every new value.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { testGateway } from '../support/gateway.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create domain date_list as date[];
  create type span as (note text, made timestamptz);
  create domain one_span as span;
  create type trip as (name text, stops span[], whole one_span);
  create table part (spent one_span, noted date_list, id int primary key, part_of_id int references part, made timestamptz, lasts tstzrange, day date);
  create table plan (made timestamptz primary key, lasts tstzrange);
  insert into plan values ('2024-01-01 00:00 Europe/Berlin', null);
  -- As a superuser: others see no memory.
  create function kept_bytes() returns bigint stable security definer language sql as
    $$ select sum(total_bytes)::bigint from pg_catalog.pg_backend_memory_contexts $$;
  create function made_at(made timestamptz) returns text stable language sql as $$ select made::text $$;
  create function lasting(lasts tstzrange) returns text stable language sql as $$ select lasts::text $$;
  create function on_days(days date[]) returns int stable language sql as $$ select cardinality(days) $$;
  create function spanning(given span) returns text stable language sql as $$ select given::text $$;
  create function spans(given span[]) returns text stable language sql as $$ select given::text $$;
  create function trip(given trip) returns text stable language sql as $$ select given::text $$;
  create function planned(note text, given plan) returns text stable language sql as $$ select given::text $$;
  grant usage on schema public to anon;
  grant select, insert, update on all tables in schema public to anon;
`);

const gateway = await testGateway(database, { poolSize: 1, poolWaitMs: 60_000 }, afterAll);
const ask = async (query: string, variables: object = {}) => (await gateway.ask(query, { variables })).body;
const keptMegabytes = async () => Number((await ask('{ keptBytes }')).data.keptBytes) / 1024 / 1024;

test('Statements that a connection keeps prepared are limited by their length', async () => {
  const before = await keptMegabytes();
  const chain = (levels: number, leaf: string): string =>
    levels === 0 ? leaf : `partOf { ${chain(levels - 1, leaf)} }`;
  for (let document = 0; document < 60; document += 1) {
    const fields = Array.from(
      { length: 4 },
      (_, at) => `a${at}: partCollection(first: 1) { edges { node { ${chain(18, `l${document}: id`)} } } }`,
    );
    for (let time = 0; time < 3; time += 1) expect(await ask(`{ ${fields.join(' ')} }`)).not.toHaveProperty('errors');
  }
  expect((await keptMegabytes()) - before).toBeLessThan(64);
});

let rows = 0;
const invented = [
  'AAAAB-1',
  'abc5',
  'Europe/Xyz3',
  'jan-1',
  'jan/8/99',
  'UTC99',
  'a.b5',
  'ÄÖÜ-7',
  'z5a',
  'a1:23:45b2:34:56',
];
// A range leaves quotes and backslashes out.
const hiddenZones = ['AAAA"-1"', 'AAAA\\-1', 'A"A"A-"1"', '""AAAA\\-1'];

describe('A time zone that somebody has made up reaches no server process', () => {
  const refused = { errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] };
  const [range, filter] = ['["2024-01-01 00:00 ZONE",)', '2024-01-01 00:00 ZONE'];
  const cursor = (made: string) => Buffer.from(JSON.stringify([made])).toString('base64');
  const nodeId = (made: string) => Buffer.from(JSON.stringify(['public', 'plan', made])).toString('base64');
  test.each<[string, string, (zone: string) => object]>([
    ['a filter', 'query ($f: PartFilter) { partCollection(filter: $f) { edges { cursor } } }', (zone) => ({ f: { made: { eq: filter.replace('ZONE', zone) } } })],
    ['a list', 'query ($l: [Datetime!]) { partCollection(filter: {made: {in: $l}}) { edges { cursor } } }', (zone) => ({ l: ['2024-01-01', filter.replace('ZONE', zone)] })],
    ['a range', 'query ($f: Opaque) { partCollection(filter: {lasts: {eq: $f}}) { edges { cursor } } }', (zone) => ({ f: range.replace('ZONE', zone) })],
    ['a date', 'query ($f: Date) { partCollection(filter: {day: {eq: $f}}) { edges { cursor } } }', (zone) => ({ f: filter.replace('ZONE', zone) })],
    ['a cursor', 'query ($c: Cursor) { planCollection(after: $c) { edges { cursor } } }', (zone) => ({ c: cursor(filter.replace('ZONE', zone)) })],
    ['a node id', 'query ($n: ID!) { node(nodeId: $n) { nodeId } }', (zone) => ({ n: nodeId(filter.replace('ZONE', zone)) })],
    ['an argument', 'query ($m: Datetime) { madeAt(made: $m) }', (zone) => ({ m: filter.replace('ZONE', zone) })],
    ['a range as an argument', 'query ($l: Opaque) { lasting(lasts: $l) }', (zone) => ({ l: range.replace('ZONE', zone) })],
    ['a list as an argument', 'query ($d: [Date]) { onDays(days: $d) }', (zone) => ({ d: [filter.replace('ZONE', zone)] })],
    ['an insert', 'mutation ($o: [PartInsertInput!]!) { insertIntoPartCollection(objects: $o) { affectedCount } }', (zone) => ({ o: [{ id: ++rows, made: filter.replace('ZONE', zone) }] })],
    ['an insert of a range', 'mutation ($o: [PartInsertInput!]!) { insertIntoPartCollection(objects: $o) { affectedCount } }', (zone) => ({ o: [{ id: ++rows, lasts: range.replace('ZONE', zone) }] })],
    ['an insert of a domain over lists', 'mutation ($o: [PartInsertInput!]!) { insertIntoPartCollection(objects: $o) { affectedCount } }', (zone) => ({ o: [{ id: ++rows, noted: `{"${filter.replace('ZONE', zone)}"}` }] })],
    ['a composite value', 'query ($g: SpanInput) { spanning(given: $g) }', (zone) => ({ g: { made: filter.replace('ZONE', zone) } })],
    ['a composite value of the document', 'query ($m: Datetime) { spanning(given: {note: "\\"a5\\" (", made: $m}) }', (zone) => ({ m: filter.replace('ZONE', zone) })],
    ['a list of composite values', 'query ($g: [SpanInput]) { spans(given: $g) }', (zone) => ({ g: [{ note: 'a5' }, null, { note: 'b, "c5', made: filter.replace('ZONE', zone) }] })],
    ['a composite value in another', 'query ($g: TripInput) { trip(given: $g) }', (zone) => ({ g: { name: '(a5', stops: [{ note: '{a5}\\"', made: filter.replace('ZONE', zone) }] } })],
    ['the text of one in another', 'query ($w: Opaque) { trip(given: {whole: $w}) }', (zone) => ({ w: `("a5""",${filter.replace('ZONE', zone)})` })],
    ['a row of a table', 'query ($g: PlanInput) { planned(note: "a5", given: $g) }', (zone) => ({ g: { made: filter.replace('ZONE', zone) } })],
    ['an insert of a domain over composite values', 'mutation ($o: [PartInsertInput!]!) { insertIntoPartCollection(objects: $o) { affectedCount } }', (zone) => ({ o: [{ id: ++rows, spent: ` (a5\\","${filter.replace('ZONE', zone)}")` }] })],
    ['an update', 'mutation ($s: PartUpdateInput!) { updatePartCollection(set: $s, atMost: 100) { affectedCount } }', (zone) => ({ s: { made: filter.replace('ZONE', zone) } })],
    ['a list of updates', 'mutation ($u: [PlanUpdateEntry!]!) { updateManyPlanCollection(updates: $u) { affectedCount } }', (zone) => ({ u: [{ filter: { made: { eq: '2024-01-01' } }, set: { lasts: range.replace('ZONE', zone) } }] })],
  ])('in %s', async (_, query, variablesOf) => {
    const before = await database.query('select * from part');
    for (const zone of invented.slice(0, 3)) expect(await ask(query, variablesOf(zone))).toMatchObject(refused);
    expect(await database.query('select * from part')).toEqual(before);
    // Zones that exist pass the check.
    expect(await ask(query, variablesOf('Europe/Berlin'))).not.toHaveProperty('errors');
  }); // biome-ignore format: a table
});

test.each(invented)('an invented time zone of any form is refused: %s', async (zone) => {
  const made = `2024-01-01 00:00 ${zone}`;
  const body = await ask('query ($m: Datetime) { madeAt(made: $m) }', { m: made });
  expect(body).toMatchObject({ errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] });
});

test.each(hiddenZones)('an invented time zone hidden in a range is refused: %s', async (zone) => {
  const before = await keptMegabytes();
  for (let minute = 10; minute < 60; minute += 1) {
    const l = `[2024-01-01 ${zone}:${minute},)`;
    const body = await ask('query ($l: Opaque) { lasting(lasts: $l) }', { l });
    expect(body).toMatchObject({ errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] });
  }
  expect((await keptMegabytes()) - before).toBeLessThan(0.5);
});

test('Texts beside times in composite values may be like zones', async () => {
  const odd = ['AAAAB-1', 'a5', 'A"A"A-"1"', 'AAAA\\\\-1', '(a5,b6)', '{a5}', '",a5', ')', ''];
  const { data } = await ask('query ($g: [SpanInput]) { spans(given: $g) }', { g: odd.map((note) => ({ note })) });
  const select = 'select spans(array(select row(note, null)::span from unnest($1::text[]) note))';
  expect(data).toEqual((await database.query(select, [odd]))[0]);
});

test.each([
  ...['2024-01-01T04:05:06.789Z', '2024-01-01 04:05:06+02', '2024-01-01T04:05:06-03:30', '2024-01-01 04:05 UTC', '2024-01-01'],
  ...['infinity', '-infinity', 'now', 'epoch', 'today', 'January 8, 1999 04:05:06 PST', 'Jan-08-1999', '08-Jan-1999', '1999-Jan-08'],
  ...['Tue, 02 Jan 2024 03:04:05 GMT', '20240101T040506Z', 'J2451187', '2024-01-01 04:05 PM', '2024-01-01 00:00 Etc/GMT+5'],
  ...['2024-01-01 00:00 EST5EDT', '2024-01-01 00:00 UTC+3', '1999-01-08 04:05:06 -8:00', '2024-01-01 BC', 'Mon Jan 08 04:05:06 1999 PST'],
])('A time that PostgreSQL reads is read: %s', async (made) => {
  const expected = await database.query<{ made: string }>('select $1::timestamptz::text as made', [made]);
  const { data } = await ask('query ($m: Datetime) { madeAt(made: $m) }', { m: made });
  if (made !== 'now') expect(data.madeAt).toBe(expected[0]?.made);
  else expect(data.madeAt).toMatch(/^\d{4}-/);
}); // biome-ignore format: a table of values
