/**
 * Whether commits wait until a standby has them (`synchronous_standby_names`).
 *
 * Such a wait must not be cancelled for the sake of others: PostgreSQL ends it with a warning and says that all is committed, and what
 * the operator wants to be on two servers is on one.
 */
import pg from 'pg';
import { within } from '../shared/within.ts';
import { endLimitMs } from './driver.ts';

/** All of it with its schema: this session has the search path of the login. */
const text = `select pg_catalog.current_setting('synchronous_standby_names') operator(pg_catalog.<>) '' as waits`;
const answerWithinMs = 3000;

/** Asked over a connection of its own, and only when somebody would be cancelled: the operator may change it at any time. */
export class StandbyWait {
  readonly #options: pg.ClientConfig;
  #asking: Promise<boolean> | null = null;
  /** They do; then nobody is cancelled who may be committing, mutations share no more, and it is not asked again. */
  isKnown = false;

  constructor({
    connectionString,
    applicationName,
  }: { readonly connectionString: string; readonly applicationName: string }) {
    this.#options = {
      connectionString,
      application_name: applicationName,
      connectionTimeoutMillis: answerWithinMs,
      query_timeout: answerWithinMs,
    };
  }

  /** Resolves to true as well where nobody answers. */
  ask(): Promise<boolean> {
    if (this.isKnown) return Promise.resolve(true);
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #ask(): Promise<boolean> {
    const client = new pg.Client(this.#options);
    client.on('error', () => {});
    try {
      await client.connect();
      const { rows } = await client.query<{ waits: boolean }>(text);
      this.isKnown = rows[0]?.waits !== false;
      return this.isKnown;
    } catch {
      return true;
    } finally {
      await within(endLimitMs, client.end()).catch(() => {});
    }
  }
}
