/**
 * What happens around a soak, one thing after the other, again and again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../property/random.ts';
import { mailDisturbances } from '../storm/weather.ts';
import type { Servers } from './servers.ts';

/** Something that happens; it is over when the promise resolves. */
interface Disturbance {
  /** Whether an email that is being sent may be sent once more. */
  readonly isCut?: true;
  /** @param round Never the same. */
  happen(servers: Servers, round: number, random: Random): Promise<unknown>;
}

const run =
  (sql: (round: number) => string): Disturbance['happen'] =>
  ({ database }, round) =>
    database.query(sql(round));

/** All of them by name. */
export const disturbances: Readonly<Record<string, Disturbance>> = {
  'column added': { happen: run((round) => `alter table public.changing add column extra_${round} text`) },
  'table and comment changed': {
    happen: run(
      (round) =>
        `create table public.new_${round} (id int primary key); comment on table public.book is 'round ${round}'`,
    ),
  },
  'privileges changed': {
    happen: run((round) => {
      const [verb, to] = round % 2 === 0 ? ['grant', 'to'] : ['revoke', 'from'];
      return `${verb} select on public.changing ${to} anon`;
    }),
  },
  'role changed': {
    happen: run(
      (round) =>
        `create role soak_${round}; grant soak_${round} to anon; alter role anon set statement_timeout = '${10 + (round % 5)}s'`,
    ),
  },
  'connections ended': {
    isCut: true,
    happen: run(
      () => `select pg_catalog.pg_terminate_backend(pid) from pg_catalog.pg_stat_activity
        where pid <> pg_catalog.pg_backend_pid() and backend_type = 'client backend'`,
    ),
  },
  'changes taken back': {
    happen: run(
      (round) => `drop table if exists public.new_${round}; revoke soak_${round} from anon; drop role soak_${round};
        alter table public.changing drop column extra_${round}`,
    ),
  },
  'database restarted': {
    isCut: true,
    async happen({ database }) {
      await database.stopDatabase('fast');
      await sleep(500);
      await database.startDatabase();
    },
  },
  ...Object.fromEntries(
    Object.entries(mailDisturbances).map(([name, happen]) => [
      name,
      { isCut: true, happen: ({ mail }, _round, random) => happen(mail, random) } satisfies Disturbance,
    ]),
  ),
};
