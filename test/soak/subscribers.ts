/**
 * The subscribers of a soak: those of random-changes.test.ts, while two writers change the table. Now and then the writers rest until
 * everybody who is there has the last state.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { History, Writer } from '../live/changing-table.ts';
import { Crowd } from '../live/crowd.ts';
import type { Random } from '../property/random.ts';
import type { WhenOver } from '../support/when-over.ts';
import type { Soak } from './soak-state.ts';

const size = 40;
const stayMs = 5000;
const writers = 2;
const maxPauseMs = 800;
const roundMs = 10_000;
/** After each of these everybody has to get the last state. */
const loneChanges = 3;
/** No restart takes longer. */
const patienceMs = 60_000;
const retryMs = 200;

export class Subscribers {
  readonly #soak: Soak;
  readonly #random: Random;
  readonly #history: History;
  readonly #pool: pg.Pool;

  constructor(soak: Soak, random: Random, whenOver: WhenOver) {
    this.#soak = soak;
    this.#random = random;
    this.#pool = new pg.Pool({ connectionString: soak.servers.database.urlAs('postgres'), max: 2 });
    // An ended server is told by the query that fails.
    this.#pool.on('error', () => {});
    whenOver(() => this.#pool.end());
    this.#history = new History({ query: (sql, values = []) => this.#query(sql, values) });
  }

  /** Until it is over; then everybody gets the last state, and leaves. */
  async run(): Promise<void> {
    const { servers, ledger, isOver } = this.#soak;
    await this.#history.load();
    const crowd = new Crowd({
      url: servers.url,
      history: this.#history,
      random: this.#random.fork(),
      size,
      stayMs,
      mayRefuse: (since) => !ledger.wasCalm(since),
      found: (fault) => ledger.violation(fault),
    });
    const writing = Array.from({ length: writers }, () => this.#random.fork());
    const write = await Promise.all(writing.map((random) => this.#openWriter(random)));
    while (!isOver()) {
      const roundEnd = performance.now() + roundMs;
      const work = write.map(async (one) => {
        while (performance.now() < roundEnd && !isOver()) {
          await one.write();
          await sleep(this.#random.int(0, maxPauseMs));
        }
      });
      await Promise.all(work);
      await crowd.settle();
      crowd.isQuiet = true;
      for (let change = 0; change < loneChanges; change += 1) {
        await write[0]!.write();
        await crowd.settle();
      }
      crowd.isQuiet = false;
      ledger.count('moments in which all subscribers had the last state');
    }
    await crowd.end();
    await Promise.all(write.map((one) => one.end()));
    ledger.count('subscriptions', crowd.subscriptions);
    ledger.count('events', crowd.events);
    await this.#query('delete from log.state where n < (select n - 1000 from public.version)', []);
  }

  /** A writer that comes back after its connection was ended. */
  async #openWriter(random: Random) {
    const { servers, ledger } = this.#soak;
    const connect = () => Writer.connect({ url: servers.database.urlAs('postgres') }, this.#history, random);
    let writer: Writer | null = await connect();
    return {
      write: async () => {
        try {
          writer ??= await connect();
          await writer.write();
          ledger.count('transactions of writers');
        } catch (error) {
          // Class 57: the server has ended the connection.
          if (error instanceof pg.DatabaseError && !error.code?.startsWith('57')) throw error;
          ledger.count('transactions of writers that were cut');
          const broken = writer;
          writer = null;
          await broken?.end().catch(() => {});
          await sleep(retryMs);
        }
      },
      end: async () => writer?.end(),
    };
  }

  async #query<T>(sql: string, values: readonly unknown[]): Promise<T[]> {
    for (const until = performance.now() + patienceMs; ; await sleep(retryMs)) {
      try {
        return (await this.#pool.query(sql, [...values])).rows as T[];
      } catch (error) {
        if (performance.now() > until) throw error;
      }
    }
  }
}
