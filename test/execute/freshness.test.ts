/**
 * Always fresh: while one connection changes the schema in a loop, clients query without pause. Every
 * answer must fit a state of the schema between the last change committed before the request was sent and the change that
 * was under way when the answer came.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Json, startExecution, type TestExecution } from '../support/execution.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { atEnd } from '../support/when-over.ts';

const schema = `
  comment on schema public is '@graphql({"inflect_names": true, "introspection": true})';
  create table thing (id int primary key, label text not null default 'x', note text);
  insert into thing select g from generate_series(1, 3) g;
  create table part (id int primary key, thing_id int references thing);
  grant usage on schema public to anon, authenticated;
  grant select on thing to anon;
  grant select, insert on part to anon, authenticated;
`;

/** A change, and which probes are answered (true) or refused (false) once it is committed. */
interface Change {
  readonly sql: string;
  readonly state: Readonly<Record<ProbeName, boolean>>;
}

const probes = {
  note: '{ thingCollection { edges { node { id note } } } }',
  extra: '{ extraCollection { edges { node { id } } } }',
  renamed: '{ thingCollection { edges { node { caption } } } }',
  added: '{ thingByPk(id: 1) { added } }',
} as const;
type ProbeName = keyof typeof probes;

const base = { note: true, extra: false, renamed: false, added: false };
const cycle: readonly Change[] = [
  {
    sql: 'revoke select on thing from anon; grant select (id, label) on thing to anon',
    state: { ...base, note: false },
  },
  { sql: 'grant select on thing to anon', state: base },
  { sql: `comment on column thing.label is '@graphql({"name": "caption"})'`, state: { ...base, renamed: true } },
  { sql: 'comment on column thing.label is null', state: base },
  { sql: 'create table extra (id int primary key); grant select on extra to anon', state: { ...base, extra: true } },
  { sql: 'drop table extra', state: base },
  { sql: 'alter table thing add column added int', state: { ...base, added: true } },
  { sql: 'alter table thing drop column added', state: base },
];

describe('a schema that changes all the time', () => {
  test('no answer is older than the last change committed before the request was sent, and none fails for a reload', async () => {
    const database = await createDatabase(schema, watchSql());
    await database.query(
      'grant usage on schema pgreflect to authenticator; grant select on pgreflect.catalog_change to authenticator',
    );
    const execution = await startExecution(database);
    expect((await execution.role('anon')).catalog.hasChangeTrigger).toBe(true);

    // `committed` is the last change that is certainly visible, `begun` the last that may be.
    let committed = -1;
    let begun = -1;
    let done = false;
    const writer = (async () => {
      for (let index = 0; index < cycle.length * 2; index++) {
        begun = index;
        await database.query(`begin; ${cycle[index % cycle.length]!.sql}; commit`);
        committed = index;
        await sleep(Math.random() * 25);
      }
      done = true;
    })();

    const stateAt = (index: number) => (index < 0 ? base : cycle[index % cycle.length]!.state);
    const wrong: string[] = [];
    let asked = 0;
    const reader = async (seed: number) => {
      const names = Object.keys(probes) as ProbeName[];
      for (let index = seed; !done; index++) {
        const name = names[index % names.length]!;
        const before = committed;
        const body = await execution.run('anon', probes[name]);
        asked += 1;
        const answered = body.errors === undefined;
        const possible = range(before, begun).some((change) => stateAt(change)[name] === answered);
        const codes = (body.errors ?? []).map((error: Json) => error.extensions.code);
        const clean = codes.every((code: string) => code === 'GRAPHQL_VALIDATION_FAILED');
        if (!possible || !clean) wrong.push(`${name} ${before}-${begun}: ${JSON.stringify(body)}`);
      }
    };
    await Promise.all([writer, ...range(0, 3).map(reader)]);
    expect(wrong).toEqual([]);
    // Every reader asked while the schema changed; how often is the machine's business.
    expect(asked).toBeGreaterThanOrEqual(4);
  });

  test('a role membership that is granted is seen by the next request', async () => {
    const database = await createDatabase(schema, watchSql());
    await database.query(
      'grant usage on schema pgreflect to authenticator; grant select on pgreflect.catalog_change to authenticator',
    );
    await database.query(
      `create role "${database.name}_reader"; grant select on thing to "${database.name}_reader"; grant usage on schema public to "${database.name}_reader"`,
    );
    const execution = await startExecution(database);
    expect((await execution.run('authenticated', probes.note)).errors).toHaveLength(1);
    await database.query(`grant "${database.name}_reader" to authenticated`);
    expect((await execution.run('authenticated', probes.note)).errors).toBeUndefined();
    await database.query(`drop owned by "${database.name}_reader"; drop role "${database.name}_reader"`);
    expect((await execution.run('authenticated', probes.note)).errors).toHaveLength(1);
  });
});

describe('with the trigger', () => {
  test('a refusal by cost counts the last change, as all refusals do', async () => {
    const database = await createDatabase(schema, watchSql());
    await database.query(`grant usage on schema pgreflect to authenticator; grant select on pgreflect.catalog_change to authenticator;
      comment on schema public is '@graphql({"inflect_names": true, "max_rows": 1000})'`);
    const execution = await startExecution(database, { limits: { maxCost: 500 } });
    const { errors } = await execution.run('anon', probes.note);
    expect(errors[0].extensions).toMatchObject({ code: 'LIMIT_EXCEEDED', limit: 'max-cost' });
    await database.query(`comment on schema public is '@graphql({"inflect_names": true, "max_rows": 100})'`);
    expect((await execution.run('anon', probes.note)).errors).toBeUndefined();
  });
});

describe('without the trigger', () => {
  let database: TestDatabase;
  let execution: TestExecution;
  beforeAll(async () => {
    database = await createDatabase();
    execution = await startExecution(database);
  });
  beforeEach(async () => {
    await database.query(`drop schema public cascade; create schema public; ${schema}`);
    await execution.reload();
  });

  test('a privilege that is given back before the refusal is looked into is there for the request', async () => {
    await execution.data('anon', probes.note);
    const holder = new pg.Client(database.url);
    await holder.connect();
    atEnd(() => holder.end());
    // The comparison of the catalog reads policies; the request itself does not.
    await holder.query('begin; lock pg_catalog.pg_policy in access exclusive mode');
    await database.query('revoke select on thing from anon');
    const answer = execution.run('anon', probes.note);
    await vi.waitFor(async () => {
      const waiting = `select from pg_locks where relation = 'pg_policy'::regclass and not granted`;
      expect(await database.query(waiting)).not.toEqual([]);
    });
    await database.query('grant select on thing to anon');
    await holder.query('commit');
    expect((await answer).errors).toBeUndefined();
  });

  test('a row that a policy refuses is refused without a look at the catalog', async () => {
    await database.query(
      'alter table part enable row level security; create policy none on part for insert with check (id < 0)',
    );
    await execution.reload();
    const query = 'mutation { insertIntoPartCollection(objects: [{ id: 1 }]) { affectedCount } }';
    await execution.run('anon', query);
    const holder = new pg.Client(database.url);
    await holder.connect();
    atEnd(() => holder.end());
    // A look would wait.
    await holder.query('begin; lock pg_catalog.pg_rewrite in access exclusive mode');
    const { errors } = await execution.run('anon', query);
    await holder.query('rollback');
    expect(errors).toMatchObject([{ extensions: { code: 'PERMISSION_DENIED' } }]);
  });

  test('a statement that the database refuses because a column is gone is answered on a new model', async () => {
    expect(await execution.data('anon', '{ thingByPk(id: 1) { id note } }')).toEqual({
      thingByPk: { id: 1, note: null },
    });
    await database.query('alter table thing drop column note');
    const body = await execution.run('anon', '{ thingByPk(id: 1) { id note } }');
    expect(body.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
    expect(await execution.data('anon', '{ thingByPk(id: 1) { id } }')).toEqual({ thingByPk: { id: 1 } });
  });

  test('a column whose type changes is answered in its new type without an error', async () => {
    const query = '{ thingByPk(id: 1) { id label } }';
    expect(await execution.data('anon', query)).toEqual({ thingByPk: { id: 1, label: 'x' } });
    await database.query('alter table thing alter column label drop default, alter column label type int using 7');
    expect(await execution.data('anon', query)).toEqual({ thingByPk: { id: 1, label: 7 } });
  });

  test('a column that becomes a text is answered as one, whatever it holds', async () => {
    await database.query('alter table thing alter column label drop default, alter column label type int using 7');
    await execution.reload();
    const query = '{ thingCollection(filter: {id: {eq: 1}}) { edges { cursor node { label } } } }';
    expect(await execution.data('anon', query)).toMatchObject({ thingCollection: { edges: [{ node: { label: 7 } }] } });
    await database.query(`alter table thing alter column label type text using '"seven" \\'`);
    expect(await execution.data('anon', query)).toMatchObject({
      thingCollection: { edges: [{ node: { label: '"seven" \\' } }] },
    });
  });

  test('statements that connections have prepared are prepared anew when a column has another type', async () => {
    await database.query('grant insert, update, delete on thing to anon');
    await execution.reload();
    const query = '{ thingByPk(id: 1) { label } }';
    const mutation = 'mutation { a: updateThingCollection(set: {id: 1}, filter: {id: {eq: 1}}) { records { label } } }';
    const askOften = async (text: string) => {
      // At once, so that every connection of the pool prepares it.
      await Promise.all(range(1, 5).map(() => execution.data('anon', text)));
      await Promise.all(range(1, 5).map(() => execution.data('anon', text)));
    };
    await askOften(query);
    await askOften(mutation);
    await database.query('alter table thing alter column label drop default, alter column label type int using 7');
    for (const _ of range(1, 5)) {
      expect(await execution.data('anon', query)).toEqual({ thingByPk: { label: 7 } });
      expect(await execution.data('anon', mutation)).toEqual({ a: { records: [{ label: 7 }] } });
    }
  });

  test('one row is answered for a key that is no key any more', async () => {
    const query = '{ thingByPk(id: 1) { id label } }';
    await execution.data('anon', query);
    await database.query(`
      alter table part drop constraint part_thing_id_fkey;
      alter table thing drop constraint thing_pkey;
      insert into thing values (1, 'x'), (1, 'x')`);
    expect(await execution.data('anon', query)).toEqual({ thingByPk: { id: 1, label: 'x' } });
  });

  test('a table dropped between compiling and running gives a clear error, and other tables go on', async () => {
    await execution.data('anon', '{ partCollection { edges { node { id } } } }');
    await database.query('drop table part');
    const body = await execution.run('anon', '{ partCollection { edges { node { id } } } }');
    expect(body.errors[0].message).toContain('partCollection');
    expect(await execution.data('anon', '{ thingByPk(id: 1) { id } }')).toEqual({ thingByPk: { id: 1 } });
  });

  test('a statement that the database refuses is answered so while other roles of the server come and go', async () => {
    await database.query(`
      create view loud as select id, upper(label) as label from thing; grant select, insert on loud to anon;
      comment on view loud is '@graphql({"primary_key_columns": ["id"]})'`);
    await execution.reload();
    let done = false;
    const passer = async (name: string) => {
      for (; !done; await sleep(5)) {
        await database.query(`create role "${name}"`);
        await database.query(`drop role "${name}"`);
      }
    };
    const insert = async () => {
      const bodies: Json[] = [];
      for (const _ of range(1, 2)) {
        const query = 'mutation { insertIntoLoudCollection(objects: {label: "A"}) { affectedCount } }';
        bodies.push(await execution.run('anon', query));
      }
      done = true;
      return bodies;
    };
    const [bodies] = await Promise.all([insert(), ...['one', 'two'].map((each) => passer(`${database.name}_${each}`))]);
    const message = 'A column that was given a value cannot be written through this view. Leave it out.';
    const refused = [{ message, path: ['insertIntoLoudCollection'] }];
    for (const { errors } of bodies) expect(errors).toMatchObject(refused);
  });

  test('a request of a role that was dropped gets an error that says so', async () => {
    await database.query(
      `create role "${database.name}_gone"; grant "${database.name}_gone" to authenticator; grant usage on schema public to "${database.name}_gone"`,
    );
    await execution.reload();
    expect((await execution.run(`${database.name}_gone`, '{ __typename }')).data).toEqual({ __typename: 'Query' });
    await database.query(`drop owned by "${database.name}_gone"; drop role "${database.name}_gone"`);
    const body = await execution.run(`${database.name}_gone`, '{ __typename }');
    expect(body.errors[0].extensions.code).toBe('ROLE_NOT_ALLOWED');
  });
});

function watchSql(): string {
  return readFileSync(new URL('../../sql/watch.sql', import.meta.url), 'utf8');
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

test('a check while the catalog is being read waits for it, and reads again only if it has changed since', async () => {
  const database = await createDatabase(schema);
  const execution = await startExecution(database);
  const readings = () => execution.observations.filter(({ kind }) => kind === 'reloaded').length;
  // Roles belong to the whole server, where other tests change them at any time: one quiet try is enough.
  await vi.waitFor(async () => {
    await database.query('alter table thing add column if not exists more int');
    await execution.reload();
    const before = readings();
    await database.query('alter table thing drop column more');
    expect(await Promise.all([execution.reload(), execution.compare()])).toEqual([undefined, true]);
    expect(readings()).toBe(before + 1);
    expect(await execution.compare()).toBe(false);
    await database.query('alter table thing add column more int');
    expect(await execution.compare()).toBe(true);
    expect(readings()).toBe(before + 2);
  });
});

test('the check at an interval continues soon after the catalog took long to read', async () => {
  const database = await createDatabase(schema);
  const execution = await startExecution(database, { pollMs: 50 });
  const names = async () => [...(await execution.role('anon')).shared.model.tables.values()].map(({ name }) => name);
  // The reading wants this table, the comparison does not.
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  atEnd(() => holder.end());
  await holder.query('begin; lock table pg_catalog.pg_foreign_table in access exclusive mode');
  await database.query('create table first_change (id int primary key); grant select on first_change to anon');
  // A share of this would be the pause until the next comparison: 60 seconds.
  await sleep(3000);
  await holder.query('commit');
  await vi.waitFor(async () => expect(await names()).toContain('first_change'), { timeout: 20_000 });
  await database.query('create table second_change (id int primary key); grant select on second_change to anon');
  await vi.waitFor(async () => expect(await names()).toContain('second_change'), { timeout: 20_000 });
});

describe('a trigger that is taken out', () => {
  test('a trigger that is taken out is noticed by the next request, which is answered all the same', async () => {
    const database = await createDatabase(schema, watchSql());
    await database.query(
      'grant usage on schema pgreflect to authenticator; grant select on pgreflect.catalog_change to authenticator',
    );
    const execution = await startExecution(database);
    expect((await execution.role('anon')).catalog.hasChangeTrigger).toBe(true);
    await database.query(readFileSync(new URL('../../sql/unwatch.sql', import.meta.url), 'utf8'));
    expect(await execution.data('anon', '{ thingByPk(id: 1) { id } }')).toEqual({ thingByPk: { id: 1 } });
    expect((await execution.role('anon')).catalog.hasChangeTrigger).toBe(false);
  });
});
