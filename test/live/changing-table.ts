/**
 * A table that several writers change at random, and every state that it has ever had.
 *
 * Each transaction counts up a version as the last thing that it does, and records the whole table beside it. The row of the
 * version is locked until the commit, so version n is the state after the first n commits, and nothing in between exists.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Random } from '../property/random.ts';
import type { TestDatabase } from '../support/postgres.ts';

/** A row, as subscribers see it. */
export interface Item {
  readonly id: number;
  readonly owner: string | null;
  readonly team: string;
  readonly amount: number;
}

/** What the table was at a version. */
interface State {
  readonly n: number;
  /** Whether members see what belongs to their team. */
  readonly isOpen: boolean;
  /** Whether those without an account see anything. */
  readonly isPublic: boolean;
  readonly items: readonly Item[];
}

export const owners = ['ada', 'ben', 'cleo', 'dora'];
export const teams = ['red', 'blue'];

const claim = (name: string) => `current_setting('request.jwt.claims')::json ->> '${name}'`;
const own = `owner is null or owner = ${claim('sub')}`;
const ofTeam = `team = ${claim('team')}`;

/** Members see only what is their own, and then what belongs to their team again. */
export const closeTeams = `alter policy of_member on item using (${own}); update version set is_open = false`;
export const openTeams = `alter policy of_member on item using (${own} or ${ofTeam}); update version set is_open = true`;

/** Nobody without an account may read the table, and then everybody again. */
export const hide = 'revoke select on item from anon; update version set is_public = false';
export const show = 'grant select on item to anon; update version set is_public = true';

export const changingTable = `
  create table version (id int primary key, n int not null, is_open bool not null, is_public bool not null);
  insert into version values (1, 0, true, true);
  create table item (
    id int primary key, owner text, team text not null, amount int not null, version_id int not null default 1 references version
  );
  create function _pause(version) returns bool stable language plpgsql as $$ begin perform pg_sleep(0.1 + random() * 0.1); return true; end $$;
  alter table item enable row level security;
  create policy for_all on item for select to anon using (owner is null);
  create policy of_member on item for select to authenticated using (${own} or ${ofTeam});
  grant select on version, item to anon, authenticated, service_role;
  create schema log;
  create table log.state (n int primary key, is_open bool, is_public bool, items json);
  insert into log.state values (0, true, true, '[]');
`;

const record = `insert into log.state select n, is_open, is_public,
  (select coalesce(json_agg(json_build_object('id', id, 'owner', owner, 'team', team, 'amount', amount) order by id), '[]') from item)
  from version`;

/** Ids of the rows that come and go. */
const ids = 24;
/** States that are kept: no event is so late. */
const kept = 5000;

/** All states so far. */
export class History {
  readonly #database: Pick<TestDatabase, 'query'>;
  readonly #states = new Map<number, State>();
  newest = -1;
  /** The newest version of which a writer knows that it is committed. */
  committed = 0;

  constructor(database: Pick<TestDatabase, 'query'>) {
    this.#database = database;
  }

  /** Reads what has been committed since. */
  async load(): Promise<number> {
    const found = await this.#database.query<State>(
      'select n, is_open as "isOpen", is_public as "isPublic", items from log.state where n > $1 order by n',
      [this.newest],
    );
    for (const state of found) {
      this.#states.set(state.n, state);
      this.#states.delete(state.n - kept);
      this.newest = Math.max(this.newest, state.n);
    }
    return this.newest;
  }

  /** The state of a version; undefined: nobody has committed it. */
  async at(n: number): Promise<State | undefined> {
    if (n > this.newest) await this.load();
    return this.#states.get(n);
  }
}

/** A connection that changes the table in one transaction after the other. */
export class Writer {
  readonly #client: pg.Client;
  readonly #history: History;
  readonly #random: Random;
  rolledBack = 0;

  private constructor(client: pg.Client, history: History, random: Random) {
    this.#client = client;
    this.#history = history;
    this.#random = random;
  }

  static async connect({ url }: Pick<TestDatabase, 'url'>, history: History, random: Random): Promise<Writer> {
    const client = new pg.Client({ connectionString: url });
    // An ended server is told by the transaction that fails.
    client.on('error', () => {});
    await client.connect();
    return new Writer(client, history, random);
  }

  end(): Promise<void> {
    return this.#client.end();
  }

  /** A transaction, with pauses in it. */
  async write(): Promise<void> {
    const random = this.#random;
    // Ascending, so that writers never wait for each other in a circle.
    const chosen = random.some(
      Array.from({ length: ids }, (_, id) => id),
      0.12,
    );
    const changes = (chosen.length === 0 ? [0] : chosen).flatMap((id) => this.#changeOf(id));
    if (random.chance(0.25)) changes.push(pause(random.int(100, 300)));
    await this.transact(changes, !random.chance(0.1));
    await sleep(random.int(0, 20));
  }

  /** Sent as one message: the machine of the test is slow, and the pauses are those of the server. */
  async transact(changes: readonly string[], isMeant = true): Promise<void> {
    const count = 'update version set n = n + 1 returning n';
    const late = this.#random.chance(0.05) ? [pause(100)] : [];
    // Before the count: a rollback to a savepoint gives the table up, and a change of it that comes in between needs the count.
    const table = 'lock table item in row exclusive mode';
    const script = ['begin', table, ...changes, count, record, ...late, isMeant ? 'commit' : 'rollback'];
    const answers = (await this.#client.query(script.join(';\n'))) as unknown as readonly pg.QueryResult[];
    const counted = answers.flatMap(({ rows }) => rows).find((row) => 'n' in row) as { n: number };
    if (isMeant) this.#history.committed = Math.max(this.#history.committed, counted.n);
    else this.rolledBack += 1;
  }

  #changeOf(id: number): readonly string[] {
    const random = this.#random;
    const owner = random.chance(0.3) ? 'null' : `'${random.pick(owners)}'`;
    const remove = `delete from item where id = ${id}`;
    const insert = `insert into item values (${id}, ${owner}, '${random.pick(teams)}', ${random.int(0, 99)})
      on conflict (id) do update set owner = excluded.owner, team = excluded.team, amount = excluded.amount`;
    // Gone and back as another: no state has it missing.
    const change = random.pick([[remove], [remove, pause(20), insert], [insert], [insert]]);
    return random.chance(0.2) ? ['savepoint here', ...change, 'rollback to savepoint here'] : change;
  }
}

function pause(ms: number): string {
  return `select pg_sleep(${ms / 1000})`;
}
