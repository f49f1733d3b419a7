/** The triggers that record which tables change (sql/live.sql), for `init` and `check`. */
import type { Queryable } from '../postgres/system/queryable.ts';
import { loadSqlFile } from '../postgres/system/sql-file.ts';

/** What they run. */
export const changeFunction = 'pgreflect.note_live_change()';

/** A table that live queries may read. */
interface ChangeTrigger {
  /** Its SQL name. */
  readonly table: string;
  readonly topic: string;
  /** What gives it the trigger; null: it has it. */
  readonly statement: string | null;
  readonly advice: null;
}

/** Whether `init --live` was run. */
export async function hasLive(database: Queryable): Promise<boolean> {
  const [row] = await database.query(
    `select pg_catalog.to_regclass('pgreflect.live_change') is not null
      or pg_catalog.to_regprocedure($1) is not null as found`,
    [changeFunction],
  );
  return row?.found === true;
}

/** Tables that live queries on these schemas may read. */
export async function planTriggers(database: Queryable, schemas: readonly string[]): Promise<readonly ChangeTrigger[]> {
  return (await database.query(loadSqlFile('live-tables.sql'), [schemas])) as unknown as readonly ChangeTrigger[];
}
