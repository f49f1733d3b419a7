/**
 * What happens to the servers of a storm while its clients are busy, one thing after the other.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../property/random.ts';
import type { MailServers, Servers, World } from './world.ts';

/** Something that happens; it is over, and everything serves again, when the promise resolves. */
type Disturbance<Disturbed = Servers> = (servers: Disturbed, random: Random) => Promise<void>;

/** What happens to the mail server. */
export const mailDisturbances: Readonly<Record<string, Disturbance<MailServers>>> = {
  async 'mail server restarted'(servers, random) {
    await servers.stopSmtp();
    await sleep(random.int(100, 2000));
    await servers.startSmtp();
  },
  async 'mail connections cut'(servers) {
    servers.smtp().cutConnections();
  },
  async 'mail server refuses for a while'(servers, random) {
    servers.smtp().behave({ kind: 'refuse', at: 'message', code: 451, text: '4.3.0 Later' });
    await sleep(random.int(100, 1500));
    servers.smtp().behave({ kind: 'accept' });
  },
  async 'mail server hangs up in the middle'(servers, random) {
    servers.smtp().behave({ kind: 'drop', at: 'data' });
    await sleep(random.int(100, 1500));
    servers.smtp().behave({ kind: 'accept' });
  },
};

/** What happens to two gateways, one PostgreSQL and one mail server. */
export const disturbances: Readonly<Record<string, Disturbance>> = {
  ...mailDisturbances,
  async 'database restarted'(servers, random) {
    await servers.stopDatabase('fast');
    await sleep(random.int(0, 1000));
    await servers.startDatabase();
  },
  async 'database crashed'(servers, random) {
    await servers.stopDatabase('immediate');
    await sleep(random.int(0, 1000));
    await servers.startDatabase();
  },
  async 'database connections ended'(servers) {
    const others = 'pid <> pg_catalog.pg_backend_pid() and backend_type = $1';
    const sql = `select pg_catalog.pg_terminate_backend(pid) from pg_catalog.pg_stat_activity where ${others}`;
    await servers.query(sql, ['client backend']);
  },
  async 'gateway killed'(servers, random) {
    const gateway = random.pick(servers.gateways);
    await gateway.end('SIGKILL');
    await sleep(random.int(0, 1000));
    await gateway.start();
  },
  async 'gateway killed while it sends'(servers, random) {
    const gateway = random.pick(servers.gateways);
    servers.smtp().behave({ kind: 'delay', ms: 500 });
    await sleep(random.int(100, 500));
    await gateway.end('SIGKILL');
    servers.smtp().behave({ kind: 'accept' });
    await gateway.start();
  },
  async 'gateway restarted'(servers, random) {
    const gateway = random.pick(servers.gateways);
    await gateway.end('SIGTERM');
    await gateway.start();
  },
};

/** How long it goes on. */
export type Duration = { readonly rounds: number } | { readonly minutes: number };

/** What the weather knows of the clients. */
export interface Watch {
  /** Hears of each disturbance when it begins, and of null when it is over. */
  readonly onEvent: (name: string | null) => void;
  /** Asked before each. */
  readonly isOver: () => boolean;
  /** How much they have done so far. */
  readonly flowsDone: () => number;
}

/** Disturbs the servers: in each round every disturbance happens once, in an order of its own. */
export async function makeWeather(
  { disturbances }: Pick<World, 'disturbances'>,
  random: Random,
  duration: Duration,
  watch: Watch,
): Promise<void> {
  const end = 'minutes' in duration ? Date.now() + duration.minutes * 60_000 : Number.POSITIVE_INFINITY;
  const rounds = 'rounds' in duration ? duration.rounds : Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of random.shuffle(Object.keys(disturbances))) {
      await ('rounds' in duration ? awaitFlows(watch) : sleep(random.int(100, maxCalmMs)));
      if (watch.isOver() || Date.now() > end) return;
      watch.onEvent(name);
      await disturbances[name]!(random);
      watch.onEvent(null);
    }
  }
}

const maxCalmMs = 12_000;

/** Flows that are done between two disturbances of a short storm, however fast the machine is. */
const flowsBetween = 3;

async function awaitFlows({ flowsDone, isOver }: Watch): Promise<void> {
  const [enough, until] = [flowsDone() + flowsBetween, Date.now() + maxCalmMs];
  while (flowsDone() < enough && Date.now() < until && !isOver()) await sleep(20);
}
