/** What `pgreflect check` advises is right: keys are unique, comments keep what they say, and each fix ends its finding and makes none. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Finding } from '../../src/check/finding.ts';
import { createDatabase, fixture, type TestDatabase } from '../support/postgres.ts';
import { findings } from './check-findings.ts';
import { expectCheckedWhole, expectFixesEnd } from './check-proofs.ts';
import { runCommand } from './run-command.ts';

describe('a trading company', () => {
  let database: TestDatabase;
  let found: readonly Finding[];

  const commentOf = async (name: string) =>
    (await database.query<{ text: string }>(`select obj_description('${name}'::regclass) as text`))[0]!.text;

  const several = { inflect_names: 'yes', maxRows: 5, primary_key_colums: ['line'], totalCount: true };
  const key = { local_columns: ['id'], foreign_schema: 'public', foreign_table: 'words', foreign_columns: ['id'] };
  const words = {
    ignore: ['left_outt', 'row_security_off'],
    foreign_keys: [
      { ...key, local_nam: 'a' },
      { ...key, foreignName: 'b' },
    ],
  };

  beforeAll(async () => {
    database = await createDatabase(
      fixture('check-trading.sql'),
      `create table several (line text); comment on table several is '@graphql(${JSON.stringify(several)})';
      create table two (line text); comment on table two is '@graphql({"nmae": "Entry", "Name": "Line"})';
      create type tone as enum ('high', 'low'); comment on type tone is '@graphql({"mappings": {"hihg": "HIGH", "low": "LOW"}})';
      create table words (id int, tone tone); comment on table words is '@graphql(${JSON.stringify(words)})';
      create table list (line text); comment on table list is '@graphql({"ignore": "left_out"})';
      create table member (line text); comment on table member is '@graphql({"constructor": 1})';
      create table left_alone (line text); comment on table left_alone is '@graphql({"ignore": ["left_out"]})';`,
    );
    found = await findings(database);
  });

  /** Mistakes in the directives of an object, as they were at first or are now. */
  const directivesOf = (object: string, all = found) =>
    all.filter((finding) => finding.check.startsWith('directive_') && finding.object === `public.${object}`);
  const directives = () => findings(database, '--only', 'directive_key,directive_value,directive_column');

  test('a declared key that two rows share is an error', () => {
    const [error] = found.filter(({ check }) => check === 'key_not_unique');
    expect(error).toMatchObject({ severity: 'error', object: 'public.people', fix: null });
    expect(error?.message).toBe(
      'The key (id) of view public.people is not unique, so pages skip rows. Name columns that are unique by primary_key_columns.',
    );
  });

  test('misspelled keys and values of directives are found, with what was meant', () => {
    const added = ['several', 'two', 'tone', 'words', 'list', 'member'].map((name) => `public.${name}`);
    const typos = found.filter(({ check, object }) => check.startsWith('directive_') && !added.includes(object!));
    expect(typos.map(({ check, object, fix }) => [check, object, fix])).toEqual([
      [
        'directive_key',
        'public',
        `comment on schema public is 'The shop''s schema. @graphql({"max_rows":50,"inflect_names":true})';`,
      ],
      [
        'directive_value',
        'public.product',
        `comment on table public.product is '@graphql({"totalCount":{"enabled":true},"primary_key_columns":["id"]})';`,
      ],
      [
        'directive_key',
        'public.product',
        `comment on table public.product is '@graphql({"totalCount":{"enabled":true},"primary_key_columns":["id"]})';`,
      ],
      [
        'directive_value',
        'public.order_line',
        `comment on table public.order_line is '@graphql({"aggregate":{"enabled":true}})';`,
      ],
      [
        'directive_column',
        'public.contact',
        `comment on view public.contact is '@graphql({"primary_key_columns":["email"]})';`,
      ],
    ]);
  });

  test('tags of PostGraphile are found, unless a directive stands beside them', async () => {
    await database.query(`
      comment on table address is e'@omit create,update\\n@name place\\nWhere goods go.';
      comment on column customer.email is '@omit';
      comment on constraint customer_billing_address_id_fkey on customer is e'@fieldName billing\\n@foreignFieldName billed';
      comment on column customer.name is e'@name who\\n@graphql({"name": "who"})';
      comment on column "order".note is 'Write to @omit or @name.'`);
    const found = await findings(database, '--only', 'smart_comment');
    expect(found.map(({ object, severity, message }) => [object, severity, message.split(': ')[1]])).toEqual([
      ['public.address', 'warning', '@omit create,update, @name place. What they hid, grants must hide.'],
      ['public.customer.email', 'warning', '@omit. What they hid, grants must hide.'],
      [
        'customer_billing_address_id_fkey on public.customer',
        'warning',
        '@fieldName billing, @foreignFieldName billed.',
      ],
    ]);
    await database.query(`comment on table address is 'Where goods go.'`);
  });

  test('the fixes of several mistakes in one comment do not undo each other', async () => {
    const mistakes = directivesOf('several');
    expect(mistakes.map(({ check }) => check).toSorted()).toEqual([
      'directive_key',
      'directive_key',
      'directive_key',
      'directive_value',
    ]);
    for (const { fix } of mistakes) if (fix !== null) await database.query(fix);
    const kept = directivesOf('several', await directives());
    expect(kept.map(({ message }) => message)).toEqual([expect.stringContaining('unknown key "inflect_names"')]);
    expect(await commentOf('several')).toBe(
      '@graphql({"inflect_names":"yes","totalCount":{"enabled":true},"max_rows":5,"primary_key_columns":["line"]})',
    );
  });

  test('of two keys that seem to mean one, the first gets its name, and the other stays', () => {
    const fix = `comment on table public.two is '@graphql({"Name":"Line","name":"Entry"})';`;
    expect(directivesOf('two').map((finding) => finding.fix)).toEqual([fix, null]);
  });

  test('misspelled words inside of values are found, with the statement for them', async () => {
    const mistakes = [...directivesOf('words'), ...directivesOf('tone')];
    expect(mistakes.map(({ check, message }) => [check, message])).toEqual([
      [
        'directive_value',
        'The comment directive of public.words ignores the kind of findings "left_outt", which does not exist. Did you mean "left_out"?',
      ],
      [
        'directive_key',
        'The comment directive of public.words has the unknown key "local_nam" in "foreign_keys", which has no effect. Did you mean "local_name"?',
      ],
      [
        'directive_key',
        'The comment directive of public.words has the unknown key "foreignName" in "foreign_keys", which has no effect. Did you mean "foreign_name"?',
      ],
      [
        'directive_value',
        'The comment directive of public.tone maps the label "hihg", which does not exist. Did you mean "high"?',
      ],
    ]);
    for (const { fix } of mistakes) await database.query(fix!);
    const after = await directives();
    expect([...directivesOf('words', after), ...directivesOf('tone', after)]).toEqual([]);
    expect(await commentOf('words')).toBe(
      `@graphql(${JSON.stringify({
        ignore: ['left_out', 'row_security_off'],
        foreign_keys: [
          { ...key, local_name: 'a' },
          { ...key, foreign_name: 'b' },
        ],
      })})`,
    );
    expect(directivesOf('list')).toMatchObject([
      {
        check: 'directive_value',
        fix: `comment on table public.list is '@graphql({"ignore":["left_out"]})';`,
      },
    ]);
  });

  test('a key named like a member of every JavaScript object is unknown, too', () => {
    expect(directivesOf('member')[0]?.message).toContain('has the unknown key "constructor", which has no effect.');
  });

  test('two relationships with one name are one finding, whose SQL names the hidden one and leaves the other to its clients', () => {
    const [hidden] = found.filter(({ message }) => message.includes('hides'));
    expect(hidden?.message).toBe(
      'The field "customerCollection" of public.address is its relationship by the foreign key customer_shipping_address_id_fkey, which hides its relationship by the foreign key customer_billing_address_id_fkey.',
    );
    expect(hidden?.fix).toBe(
      `comment on constraint customer_billing_address_id_fkey on public.customer is '@graphql({"local_name":"customerCollectionByBillingAddressId","foreign_name":"addressByBillingAddressId"})';`,
    );
  });

  test('the fixes of relationships that hide each other on both sides do not undo each other', async () => {
    await database.query(`
      create table worker (id int primary key);
      create table shift (id int primary key, made_by int references worker, changed_by int references worker);
      create table visit (id int primary key, made_by int, changed_by int);
      comment on table visit is '@graphql({"foreign_keys": [
        {"local_columns": ["made_by"], "foreign_schema": "public", "foreign_table": "worker", "foreign_columns": ["id"]},
        {"local_columns": ["changed_by"], "foreign_schema": "public", "foreign_table": "worker", "foreign_columns": ["id"]}]})';
      grant select on worker, shift, visit to anon;
    `);
    const hidden = async () =>
      (await findings(database, '--only', 'left_out')).filter(({ message }) =>
        /public\.(worker|shift|visit) .*hides/.test(message),
      );
    const before = await hidden();
    expect(before).toHaveLength(4);
    for (const { fix } of before) await database.query(fix!);
    expect(await hidden()).toEqual([]);
    await database.query('drop table visit, shift, worker');
  });

  test('partitions are one finding; triggers and extensions none', () => {
    const ofPartitions = found.filter(({ object }) => object?.startsWith('public.payment'));
    const [open, ...others] = ofPartitions.filter(({ check }) => check === 'row_security_off');
    expect(others).toEqual([]);
    expect(open?.object).toBe('public.payment');
    expect(open?.message).toMatch(
      /^Row security does not protect public\.payment \(.* The same is true of its 3 partitions\.$/,
    );
    expect(open?.fix?.split('\n').filter((line) => !line.startsWith('--'))).toHaveLength(4);
    expect(open?.fix).toContain('-- create policy read_all on public.payment for select to anon using (true);');
    expect(open?.fix).not.toContain('read_all on public.payment_2023');
    expect(found.filter(({ message }) => message.includes('touch'))).toEqual([]);
    expect(found.filter(({ message }) => message.includes('public.describe'))).toHaveLength(1);
  });

  test('where partitions alone are concerned, one finding names their table', async () => {
    await database.query('grant insert on payment_2023, payment_2025 to anon');
    const open = await findings(database, '--only', 'write_unguarded');
    await database.query('revoke insert on payment_2023, payment_2025 from anon');
    expect(open).toMatchObject([
      {
        object: 'public.payment',
        message: expect.stringMatching(
          /^The grant of insert on public\.payment_2023 to anon .* The same is true of 1 more partition of public\.payment\.$/,
        ),
        fix: expect.stringMatching(
          /^revoke insert on public\.payment_2023 from anon;\n(--.*\n)+revoke insert on public\.payment_2025 from anon;\n(--.*\n?)+$/,
        ),
      },
    ]);
  });

  test('findings are chosen by kind, and left out by kind or by the comment of an object', async () => {
    const kindsOf = (all: readonly Finding[]) => [...new Set(all.map(({ check }) => check))].toSorted();
    const only = await findings(database, '--only', 'row_security_off,key_not_unique');
    expect(kindsOf(only)).toEqual(['key_not_unique', 'row_security_off']);
    const without = await findings(database, '--ignore', 'row_security_off');
    expect(kindsOf(without)).toContain('key_not_unique');
    expect(kindsOf(without)).not.toContain('row_security_off');
    const leftOut = found.filter(({ check }) => check === 'left_out').map(({ object }) => object);
    expect(leftOut).toContain('public.log');
    expect(leftOut).not.toContain('public.left_alone');
  });

  test('as SARIF, which code hosts show', async () => {
    const env = { DATABASE_URL: database.urlAs('authenticator', 'test') };
    const { out } = await runCommand(['check', '--format', 'sarif'], { env });
    const { version, runs } = JSON.parse(out);
    expect(version).toBe('2.1.0');
    expect(runs[0].tool.driver).toMatchObject({ name: 'pgreflect check' });
    expect(runs[0].results).toContainEqual({
      ruleId: 'key_not_unique',
      level: 'error',
      message: { text: expect.stringContaining('is not unique') },
      locations: [{ logicalLocations: [{ fullyQualifiedName: 'public.people' }] }],
    });
    for (const format of ['xml', 'constructor']) {
      const { code, err } = await runCommand(['check', '--format', format], { env });
      expect([code, err]).toEqual([1, expect.stringContaining('--format is none of text, json, sarif.')]);
    }
  });
});

test.each(['check-trading.sql', 'check-warehouse.sql'])('each fix for %s ends its finding and makes no other', (name) =>
  expectFixesEnd(name, 'together'),
);

describe('a database of which the roles reach little', () => {
  let database: TestDatabase;
  let out: string;
  beforeAll(async () => {
    const tables = Array.from(
      { length: 40 },
      (_, number) => `create table "a ${number}" (id int primary key, up int references "a 0" (id));`,
    );
    database = await createDatabase(`
      ${tables.join('\n').replace('references "a 0" (id)', '')}
      create table "z order" (id int primary key, up int references "a 1" (id));
      ${[1, 2, 3, 4].map((number) => `create table "z ${number}" (id int primary key);`).join('\n')}
      grant usage on schema public to anon;
      grant select on "z order", "z 1", "z 2", "z 3", "z 4" to anon;
    `);
    ({ out } = await runCommand(['check'], { env: { DATABASE_URL: database.urlAs('authenticator', 'test') } }));
  });

  const linesOf = (kind: string) => {
    const [, part = ''] = out.split(new RegExp(`^warning  ${kind} \\(\\d+\\)$`, 'm'));
    return part.split('\n\n')[0]!;
  };

  test('what they reach comes first of its kind', () => {
    expect(linesOf('foreign_key_unindexed')).toMatch(/^\n {2}The foreign key "z order_up_fkey"/);
    expect(linesOf('foreign_key_unindexed')).toContain('And 39 more like this: public."a 1", ');
  });

  test('what they reach and the API leaves out comes first, and one option lists all of it', async () => {
    expect(linesOf('left_out')).toContain(
      'Table public."z order" has no valid GraphQL name ("z order"). And 44 more like this: public."z 1", ',
    );
    const env = { DATABASE_URL: database.urlAs('authenticator', 'test') };
    ({ out } = await runCommand(['check', '--only', 'left_out'], { env }));
    expect(linesOf('left_out').match(/(?<=comment on table )public\."[az] \w+"/g)).toHaveLength(45);
  });
});

describe('a name that keeps a table out of the API', () => {
  test.each([
    ['no name of GraphQL', 'public', '"Legacy Patient"'],
    ['the name of another table', 'clinic', 'patient'],
  ])(
    'a name that keeps a table out of the API is proposed with those of its columns and indexes: %s',
    async (_, schema, name) => {
      const database = await createDatabase(`
      create schema clinic;
      create table patient (id int primary key);
      create table ${schema}.${name} (id int constraint "the key" primary key, "Blood Type" text);
      grant usage on schema clinic to anon;
      grant select, insert on patient, ${schema}.${name} to anon;
    `);
      const leftOut = () => findings(database, '--only', 'left_out', '--schemas', 'public,clinic');
      const before = await leftOut();
      const path = `${schema}.${name}`;
      expect(before.map(({ object }) => object).toSorted()).toEqual([path, path, `${path}."Blood Type"`]);
      expect(before.map(({ fix }) => fix)).toContain(`alter index ${schema}."the key" rename to the_key;`);
      for (const { fix } of before) await database.query(fix!);
      expect(await leftOut()).toEqual([]);
    },
  );
});

test('names in other scripts get one each that is free, and accents are left out', async () => {
  const database = await createDatabase(`
    create table "駅" (id int primary key, "Größe" int);
    create table "線" (id int primary key);
    create table "2 ponts à côté" (id int primary key);
    create function "検索"() returns setof "駅" language sql stable as 'select * from "駅"';
    grant select on "駅", "線", "2 ponts à côté" to anon;
  `);
  const leftOut = () => findings(database, '--only', 'left_out');
  const before = await leftOut();
  const named = before.map(({ fix }) => /"name":"(.*?)"/.exec(fix!)?.[1]);
  expect(named.toSorted()).toEqual(['Grosse', 'n_2_ponts_a_cote', 'u691cu7d22', 'u7dda', 'u99c5']);
  for (const { fix } of before) await database.query(fix!);
  expect(await leftOut()).toEqual([]);
});

test('a missing key and an unusable name are one finding with one fix, names of columns beside it', async () => {
  const database = await createDatabase(`
    create table hold (id int primary key, edition int not null, queued date);
    create view "open holds" as select edition, min(queued) as "first in line" from hold group by edition;
    create view "loose ends" as select queued from hold;
    create table "old log" ("the line" text);
    grant select on "open holds", "loose ends", "old log" to anon;
    grant insert on "old log" to anon;
  `);
  const leftOut = () => findings(database, '--only', 'left_out');
  const advice = 'Name columns that are unique in it by primary_key_columns.';
  const found = await leftOut();
  expect(found.map(({ message, fix }) => [message, fix])).toEqual([
    [
      `View public."open holds" has no valid GraphQL name ("open holds") and no primary key. ${advice}`,
      '-- If edition is unique in it; pages of another column would skip rows:\n' +
        `-- comment on view public."open holds" is '@graphql({"name":"open_holds","primary_key_columns":["edition"]})';`,
    ],
    [
      'Column public."open holds"."first in line" has no valid GraphQL name.',
      `comment on column public."open holds"."first in line" is '@graphql({"name":"first_in_line"})';`,
    ],
    [
      `View public."loose ends" has no valid GraphQL name ("loose ends") and no primary key. ${advice}`,
      expect.stringContaining('-- If '),
    ],
    [
      'Table public."old log" has no valid GraphQL name ("old log") and no primary key.',
      `comment on table public."old log" is '@graphql({"name":"old_log"})';\n` +
        'alter table public."old log" add column id bigint generated always as identity constraint old_log_pkey primary key;',
    ],
    [
      'Column public."old log"."the line" has no valid GraphQL name.',
      `comment on column public."old log"."the line" is '@graphql({"name":"the_line"})';`,
    ],
  ]);
  for (const { fix } of found) await database.query(fix!.replaceAll(/^-- (?=comment)/gm, ''));
  expect(await leftOut()).toEqual([]);
});

describe('a view without a key', async () => {
  const database = await createDatabase(`
    create table line (a int, b int, note text, primary key (b, a));
    create table parent (id int primary key); create table child () inherits (parent);
    create view renamed as select note, a as first, b as second from line where note is not null;
    create view above as select second, first from renamed;
    create view without as select a, note from line;
    create view joined as select l.* from line l join parent p on p.id = l.a;
    create view grouped as select a, count(*) from line group by a;
    create view inherited as select * from parent;
    create materialized view stored as select * from line;
    grant usage on schema public to anon; grant select on all tables in schema public to anon;
  `);
  const found = await findings(database, '--only', 'left_out');
  const fixOf = (view: string) => found.find(({ object }) => object === `public.${view}`)!.fix!;
  const naming = (view: string, ...columns: readonly string[]) =>
    `comment on ${view === 'stored' ? 'materialized view' : 'view'} public.${view} is '@graphql(${JSON.stringify({ primary_key_columns: columns })})';`;

  test.each([
    ['renamed', ['second', 'first']],
    ['above', ['second', 'first']],
  ])('a view without a key gets the key of the one table that it reads, if it passes that on: %s', (view, columns) => {
    expect(fixOf(view)).toBe(naming(view, ...columns));
  });

  test.each([
    ['without', 'a'],
    ['joined', 'a'],
    ['grouped', 'a'],
    ['inherited', 'id'],
    ['stored', 'a'],
  ])('else a person must know it, and has the directive to type: %s', (view, column) => {
    expect(fixOf(view)).toBe(
      `-- If ${column} is unique in it; pages of another column would skip rows:\n-- ${naming(view, column)}`,
    );
  });

  test('each such comment gives the view a key', async () => {
    for (const { fix } of found) await database.query(fix!.replaceAll(/^-- (?=comment)/gm, ''));
    expect(await findings(database, '--only', 'left_out')).toEqual([]);
  });
});

test('a view that is to run with the rights of its caller comes with the grants that it then needs', async () => {
  const database = await createDatabase(`
    create table copy (barcode text primary key, title text, price numeric);
    create table loan (barcode text references copy, patron text);
    create view available as select barcode, title from copy where barcode not in (select barcode from loan);
    grant select on available to anon, authenticated;
    grant select (barcode, title) on copy to anon;
    grant select on loan to authenticated;
  `);
  const [server] = await database.query<{ invokes: boolean }>(
    "select current_setting('server_version_num')::int >= 150000 as invokes",
  );
  const [{ fix } = { fix: '' }] = await findings(database, '--only', 'view_runs_as_owner');
  if (server?.invokes !== true) return expect(fix).toMatch(/^-- To take it away/);
  expect(fix).toBe(
    [
      '-- To run it with the rights of its callers:',
      '-- alter view public.available set (security_invoker = true);',
      '-- grant select on public.copy to authenticated;',
      '-- grant select on public.loan to anon;',
      '-- It has subqueries: once policies hide rows of what it reads, it returns other rows and values.',
      '-- To take it away from them:',
      '-- revoke all on public.available from public, anon, authenticated;',
      '-- To keep it, if all that it returns is for them: {"ignore": ["view_runs_as_owner"]} in its comment directive.',
    ].join('\n'),
  );
  const readAs = (role: string) => database.query(`set local role ${role}; table available`);
  await database.query(fix!);
  for (const role of ['anon', 'authenticated']) await expect(readAs(role)).resolves.toBeDefined();
  await database.query(fix!.replaceAll(/^-- (?=alter)/gm, ''));
  for (const role of ['anon', 'authenticated']) await expect(readAs(role)).rejects.toThrow('permission denied');
  await database.query(fix!.replaceAll(/^-- (?=grant)/gm, ''));
  for (const role of ['anon', 'authenticated']) await expect(readAs(role)).resolves.toBeDefined();
});

test('what one name hides is one finding with the statement that shows all of it', async () => {
  const database = await createDatabase(`
    create table shelf (id int primary key);
    create table book (id int primary key, shelf int references shelf);
    create index on book (shelf);
    grant select, insert on shelf, book to anon, authenticated;
  `);
  const leftOut = () => findings(database, '--only', 'left_out');
  const found = await leftOut();
  expect(found).toMatchObject([
    {
      object: 'public.book',
      message: [
        'The field "shelf" of public.book is its relationship by the foreign key book_shelf_fkey, which hides its column shelf.',
        ...['filter', 'order', 'insert'].map(
          (input) =>
            `Table public.book has no ${input} by its relationship "shelf": the ${input} has another entry of that name.`,
        ),
      ].join(' '),
      fix: `comment on constraint book_shelf_fkey on public.book is '@graphql({"foreign_name":"shelfByShelf"})';`,
    },
  ]);
  for (const { fix } of found) await database.query(fix!);
  expect(await leftOut()).toEqual([]);
});

test('labels of an enum that GraphQL cannot spell are found, with free names for them', async () => {
  const database = await createDatabase(`
    create type media as enum ('book', 'e-book', 'e book', 'audio book', '3d-print', 'true', 'e_book_2');
    comment on type media is '@graphql({"mappings": {"audio book": "listen"}})';
    create table edition (id int primary key, kind media);
    grant select on edition to anon;
  `);
  const [finding, ...others] = await findings(database, '--only', 'left_out');
  expect(others).toEqual([]);
  expect(finding).toMatchObject({
    object: 'public.media',
    message:
      '"e-book", "e book", "3d-print", "true" of type public.media are no valid GraphQL names: answers contain them, and the enum "media" does not.',
  });
  await database.query(finding!.fix!);
  expect(await findings(database, '--only', 'left_out')).toEqual([]);
  const { out } = await runCommand(['schema', '--role', 'anon'], {
    env: { DATABASE_URL: database.urlAs('authenticator', 'test') },
  });
  expect(/^enum media \{\n([^}]*)\}/m.exec(out)?.[1]?.trim().split(/\s+/)).toEqual([
    'book', 'e_book', 'e_book_3', 'listen', 'n_3d_print', 'TRUE', 'e_book_2',
  ]); // biome-ignore format: a list of names
});

test('a function whose rows a role cannot read is no function without a counterpart in GraphQL', async () => {
  const database = await createDatabase(`
    create table patient (id int primary key, name text);
    create table ward (id int primary key);
    create table visit (id int) partition by range (id);
    create function search_patients(word text) returns setof patient language sql stable
      as 'select p.* from patient p where p.name = word';
    create function first_patient(ward) returns patient language sql stable as 'select p.* from patient p limit 1';
    create function visits() returns setof visit language sql stable as 'select v.* from visit v';
    grant select on ward, visit to anon, authenticated, service_role;
  `);
  const ofFunctions = async () => {
    const found = await findings(database, '--only', 'left_out,not_granted');
    return found.filter(({ message }) => /^Function|"anon" may not/.test(message));
  };
  const missing = {
    check: 'not_granted',
    severity: 'note',
    message:
      'Role "anon" may not select the rows that these functions take or return: public.search_patients, public.first_patient.',
    fix: null,
  };
  const ofVisits = {
    check: 'left_out',
    message:
      'Function public.visits() returns rows of public.visit, which is not in the API. The function comes in with that table.',
  };
  expect(await ofFunctions()).toMatchObject([ofVisits, missing]);
  await database.query('grant select on patient to anon');
  expect(await ofFunctions()).toMatchObject([ofVisits]);
});

test('a long report shows one finding for each reason to leave something out, and the command that shows all', async () => {
  const objects = Array.from(
    { length: 11 },
    (_, number) => `
    create table log_${number} (line text);
    create table "über ${number}" (id int primary key);
    create procedure "close year ${number}"(year int) language sql as 'select 1';
    create table shop_${number} (id int primary key, "no name" int, seen_by int references person, made_by int references person);`,
  );
  const database = await createDatabase(`
    create table person (id int primary key);
    ${objects.join('\n')}
    grant select on all tables in schema public to anon;
  `);
  const databaseUrl = database.urlAs('authenticator', 'test');
  const run = (...args: readonly string[]) =>
    runCommand(['check', '--database-url', databaseUrl, '--schemas', "public,it's", ...args], { env: {} });
  const { out } = await run();
  const [, part = ''] = out.split(/^warning {2}left_out \(\d+\)$/m);
  const reasons = part.split('\n\n')[0]!.match(/^ {2}\S.*/gm)!;
  const heads = reasons.map((line) => line.replace(/(?<=more like this): .*/, '').replaceAll(/\d+(?!\d* more)/g, '#'));
  expect(heads.toSorted()).toEqual(
    [
      '  Procedure public."close year #"(int#) is not exposed. Expose a function that calls it. And 10 more like this',
      '  Table public."über #" has no valid GraphQL name ("über #"). And 10 more like this',
      '  Table public.log_# has no primary key. And 10 more like this',
      '  The field "shop_#Collection" of public.person is its relationship by the foreign key shop_#_made_by_fkey, which hides its relationship by the foreign key shop_#_seen_by_fkey. And 21 more like this',
      '  Column public.shop_#."no name" has no valid GraphQL name. And 10 more like this',
    ].toSorted(),
  );
  const command = `pgreflect check --database-url '${databaseUrl.replace(':test@', ':PASSWORD@')}' --schemas 'public,it'\\''s' --only KIND`;
  expect(out.trimEnd().split('\n').at(-1)).toBe(`All findings of one kind, with all of their SQL: ${command}`);
  const { out: ofKind } = await run('--only', 'left_out');
  for (let number = 0; number < 11; number += 1)
    expect(ofKind).toContain(`alter table public.log_${number} add column`);
});

test('what every new table gets by default is one finding, not one for each table', async () => {
  const names = ['a', 'b', 'c'];
  const database = await createDatabase(`
    alter default privileges in schema public grant all on tables to anon;
    ${names.map((name) => `create table ${name} (id int primary key); alter table ${name} enable row level security; create policy all_rows on ${name} using (true);`).join('\n')}
  `);
  const kinds = async () =>
    (await findings(database, '--only', 'default_grant,grant_beyond_rows')).map(({ check, object }) => [check, object]);
  expect(await kinds()).toEqual([['default_grant', 'public']]);
  // Once new tables do not get them, the grants of those that are there are to be taken back one by one.
  await database.query('alter default privileges in schema public revoke all on tables from anon');
  expect(await kinds()).toEqual(names.map((name) => ['grant_beyond_rows', `public.${name}`]));
});

test('a statement that PostgreSQL does not finish costs its own findings, and says which', async () => {
  const database = await createDatabase(`
    create table open (id int primary key);
    grant select on open to anon;
    revoke select on pg_catalog.pg_default_acl from public;
  `);
  const found = await findings(database);
  const missing = (kinds: string) => ({
    check: 'not_checked',
    severity: 'error',
    object: null,
    message: `Findings of the ${kinds} are missing: permission denied for table pg_default_acl.`,
    fix: null,
  });
  expect(found.filter(({ check }) => check === 'not_checked')).toEqual([
    missing('kinds write_unguarded, grant_beyond_rows, grant_without_policy, grant_to_everybody, policy_missing'),
    missing('kind default_grant'),
  ]);
  expect(found.map(({ check }) => check)).toContain('row_security_off');
  const kinds = async (...args: readonly string[]) => (await findings(database, ...args)).map(({ check }) => check);
  expect(await kinds('--only', 'row_security_off')).toEqual(['row_security_off']);
  expect(await kinds('--only', 'default_grant')).toEqual(['not_checked']);
});

test('30 tables with 4 policies and 3 keys each, and 20 functions that these call, are checked whole', () =>
  expectCheckedWhole(30, 20));

test('a database of more than 100 relations and many kinds of findings is at most two screens, and shows every kind', async () => {
  const wards = Array.from(
    { length: 26 },
    (_, number) => `
    create table "ward ${number}" (id int primary key, made_by uuid references worker, changed_by uuid references worker, data jsonb);
    create table bed_${number} (id int primary key, made_by uuid references worker, changed_by uuid references worker, data jsonb);
    comment on table bed_${number} is '@graphql({"totalCont": {"enabled": true}, "aggregate": true})';
    grant select, insert on "ward ${number}" to authenticated;
    grant select, insert, truncate on bed_${number} to anon;
    create table chart_${number} (id int primary key, owner_id uuid);
    alter table chart_${number} enable row level security;
    create policy own on chart_${number} for select using (owner_id = auth.uid());
    grant select, insert on chart_${number} to anon;
    create view visit_${number} as select id from bed_${number};
    grant select on visit_${number} to anon;
    create function count_${number}() returns int language sql security definer as 'select 1';`,
  );
  const database = await createDatabase(`
    create schema auth;
    create function auth.uid() returns uuid language sql stable
      as $$ select nullif(current_setting('request.jwt.claim.sub', true), '')::uuid $$;
    create table worker (id uuid primary key);
    ${wards.join('\n')}
  `);
  const { out } = await runCommand(['check'], { env: { DATABASE_URL: database.urlAs('authenticator', 'test') } });
  expect(out.trimEnd().split('\n').length).toBeLessThanOrEqual(100);
  // Statements are whole; what else there is to decide is shown alone.
  expect(out).toMatch(/ {6}revoke insert on public\.bed_0 from anon;\n {6}-- … and \d+ more lines\n/);
  const kinds = new Set((await findings(database)).map(({ check }) => check));
  expect(new Set(out.match(/(?<=^(?:error|warning|note) +)\w+(?= \(\d+\)$)/gm))).toEqual(kinds);
});
