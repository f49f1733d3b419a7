/**
 * What happens around a soak, one thing after the other, again and again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RestartableDatabase } from '../storm/world.ts';

/** Something that happens; it is over when the promise resolves. `round` is never the same. */
type Disturbance = (database: RestartableDatabase, round: number) => Promise<unknown>;

/** All of them by name. */
export const disturbances: Readonly<Record<string, Disturbance>> = {
  'column added': ({ query }, round) => query(`alter table public.changing add column extra_${round} text`),
  'table and comment changed': ({ query }, round) =>
    query(`create table public.new_${round} (id int primary key); comment on table public.item is 'round ${round}'`),
  'privileges changed': ({ query }, round) =>
    query(`${round % 2 === 0 ? 'grant' : 'revoke'} select on public.changing ${round % 2 === 0 ? 'to' : 'from'} anon`),
  'role changed': ({ query }, round) =>
    query(
      `create role soak_${round}; grant soak_${round} to anon; alter role anon set statement_timeout = '${10 + (round % 5)}s'`,
    ),
  'connections ended': ({ query }) =>
    query(`select pg_catalog.pg_terminate_backend(pid) from pg_catalog.pg_stat_activity
      where pid <> pg_catalog.pg_backend_pid() and backend_type = 'client backend'`),
  'changes taken back': ({ query }, round) =>
    query(`drop table if exists public.new_${round}; revoke soak_${round} from anon; drop role soak_${round};
      alter table public.changing drop column extra_${round}`),
  async 'database restarted'(database) {
    await database.stopDatabase('fast');
    await sleep(500);
    await database.startDatabase();
  },
};
