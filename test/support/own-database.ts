/** A database of a server of its own, as tests ask one of the run's server. */
import pg from 'pg';
import type { TestDatabase } from './postgres.ts';
import { atEnd } from './when-over.ts';

/** A database of a server of its own. */
export function connectTo(url: string): TestDatabase {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on('error', () => {});
  atEnd(() => pool.end());
  return {
    url,
    name: new URL(url).pathname.slice(1),
    urlAs: (role, password) => Object.assign(new URL(url), { username: role, password }).href,
    async query<T>(text: string, values?: readonly unknown[]): Promise<T[]> {
      const result: unknown = values ? await pool.query(text, [...values]) : await pool.query(text);
      return ((Array.isArray(result) ? result.at(-1) : result) as { rows: T[] }).rows;
    },
  };
}
