/** A database whose changes are recorded, and subscribers of gateways on it. */
import pg from 'pg';
import { expect, onTestFinished, vi } from 'vitest';
import type { TestGateway } from '../support/gateway.ts';
import { type Heard, overEvents, type Result } from '../support/live.ts';
import { recordChanges } from '../support/live-record.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

/** What comes because of the interval is late. Other tests change roles meanwhile: the next event comes after it. */
export const exact = { liveIntervalMs: 20_000, liveMinIntervalMs: 20, livePollMs: 20 };
/** For changes of the catalog, and what is not recorded. */
export const both = { ...exact, liveIntervalMs: 300 };

export async function createRecorded(options: Parameters<typeof recordChanges>[1] = {}): Promise<TestDatabase> {
  const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create schema hidden;
  create table author (id int primary key, name text);
  create table book (id int primary key, author_id int references author on delete cascade, title text);
  insert into author values (1, 'Ada'), (2, 'Ben');
  create table entry (id int primary key, at int) partition by range (id);
  create table entry_1 partition of entry for values from (1) to (100);
  create table entry_2 partition of entry for values from (100) to (200);
  create view shelf as select b.id, b.title, a.name from book b join author a on a.id = b.author_id;
  comment on view shelf is '@graphql({"primary_key_columns": ["id"]})';
  create materialized view title as select id, title as text from book;
  create unique index on title (id);
  comment on materialized view title is '@graphql({"primary_key_columns": ["id"]})';
  create table hidden.member (name text);
  create function hidden.has_member() returns bool language plpgsql stable security definer as
    $$ begin return exists (select from hidden.member); end $$;
  create table secret (id int primary key);
  insert into secret values (1);
  alter table secret enable row level security;
  create policy of_members on secret for select using (hidden.has_member());
  create table unrelated (id int primary key);
  create table dropped (id int primary key);
  grant usage on schema hidden to anon;
  grant select on all tables in schema public to anon;
  alter default privileges grant select on tables to anon;
`);
  await recordChanges(database, options);
  // What a function with a quoted body reads, only its locks tell.
  await database.query(`create trigger pgreflect_live after insert or update or delete or truncate on hidden.member
    for each statement execute function pgreflect.note_live_change();
    alter table hidden.member enable always trigger pgreflect_live`);
  return database;
}

const ids = (name: string) => `subscription { it: ${name}Collection { edges { node { id } } } }`;
const rows = ({ data }: Result): readonly unknown[] => data.it.edges.map(({ node }: Result) => node.id);
const waiting = { timeout: 60_000 };
export const live = ({ graphql }: TestGateway) => graphql.live.state();
export const soon = (check: () => unknown) => vi.waitFor(check, waiting);
export const last = (heard: Heard) => expect.poll(() => rows(heard.results.at(-1)), waiting);

/** Subscribes to the ids of a table, and waits until the gateway knows what was read. */
export async function open(gateway: TestGateway, name: string, kind: 'exact' | 'interval' = 'exact'): Promise<Heard> {
  // Else the first run waits for the schema, and the second one rests in proportion.
  await gateway.ask(ids(name).replace('subscription', 'query'));
  const { groups, exactGroups, runs } = live(gateway);
  const heard = overEvents(gateway.url, { query: ids(name) });
  const ended = heard.end.then((why) => Promise.reject(new Error(JSON.stringify(why))));
  await Promise.race([heard.next(), ended]);
  ended.catch(() => {});
  // Other tests change roles meanwhile: what was read is then unknown from the next look to the next run, which is at the interval.
  const patience = { timeout: 150_000, interval: 5 };
  await vi.waitFor(() => {
    const now = live(gateway);
    expect(now.isExact).toBe(true);
    expect(now.exactGroups).toBe(exactGroups + (kind === 'exact' ? 1 : 0));
    // The first run of the first group does not know yet that tables are recorded.
    expect(now.runs).toBeGreaterThan(runs + (groups === 0 ? 1 : 0));
  }, patience);
  return heard;
}

/** Waits until nobody subscribes. */
export async function none(gateway: TestGateway): Promise<void> {
  await soon(() => expect(live(gateway).groups).toBe(0));
}

export async function connect({ url }: TestDatabase): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** What brings an event. */
export interface Changing {
  readonly before?: string;
  readonly change: string;
  readonly expected: readonly number[];
  readonly undo?: string;
}

/** Changes of the catalog: what, the table of the live query, and how. */
export const catalogChanges: readonly (readonly [what: string, name: string, changing: Changing])[] = [
  [
    'a policy',
    'author',
    {
      change: 'alter table author enable row level security',
      expected: [],
      undo: 'alter table author disable row level security',
    },
  ],
  [
    'a partition that is attached',
    'entry',
    {
      before: 'create table hidden.entry_3 (id int primary key, at int); insert into hidden.entry_3 values (250)',
      change: 'alter table entry attach partition hidden.entry_3 for values from (200) to (300)',
      expected: [250],
      undo: 'drop table hidden.entry_3',
    },
  ],
  [
    'a function of a policy',
    'secret',
    {
      change: `create or replace function hidden.has_member() returns bool language plpgsql stable as 'begin return true; end'`,
      expected: [1],
      undo: `create or replace function hidden.has_member() returns bool language plpgsql stable security definer as
        'begin return exists (select from hidden.member); end'`,
    },
  ],
];

/** Changes it while somebody subscribes to that table, who gets the expected rows. */
export async function expectChange(
  database: TestDatabase,
  gateway: TestGateway,
  name: string,
  { before = 'select', change, expected, undo = 'select' }: Changing,
): Promise<void> {
  await database.query(before);
  onTestFinished(async () => void (await database.query(undo)));
  const heard = await open(gateway, name);
  await database.query(change);
  await last(heard).toEqual(expected);
}
