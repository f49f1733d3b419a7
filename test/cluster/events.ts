/** What happens to the servers of a cluster, one thing after the other. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Machine } from './machines.ts';
import { type Servers, until } from './servers.ts';

/** One of them. */
export interface ClusterEvent {
  readonly name: string;
  /** Whether another machine has to become the primary. */
  readonly isFailover: boolean;
  /** Lets it happen. @returns What puts it right again, and is an event itself if it has a name. */
  begin(servers: Servers): Promise<Repair>;
}

interface Repair {
  readonly name: string | null;
  repair(): Promise<void>;
}

/** How long something is left broken that nobody else mends, in milliseconds. */
const brokenMs = 12_000;

/** Until the old processes of HAProxy end, with what they still carry (`hard-stop-after`), in milliseconds. */
const hardStopMs = 35_000;

const nothing: Repair = { name: null, async repair() {} };

/** All of them. */
export const events: readonly ClusterEvent[] = [
  {
    name: 'HAProxy reloads, all three',
    isFailover: false,
    async begin(servers) {
      servers.reloadProxies();
      await sleep(hardStopMs);
      return nothing;
    },
  },
  {
    name: 'a gateway is killed',
    isFailover: false,
    async begin(servers) {
      await servers.killGateway('gateway1');
      await sleep(brokenMs);
      return { name: 'the gateway comes back', repair: async () => servers.startGateway('gateway1') };
    },
  },
  {
    name: 'a replica stops replaying',
    isFailover: false,
    async begin(servers) {
      const replica = (await rest(servers))[0]!;
      await servers.query(replica, 'select pg_wal_replay_pause()');
      await sleep(brokenMs);
      const repair = async () => void (await servers.query(replica, 'select pg_wal_replay_resume()'));
      return { name: 'the replica catches up', repair };
    },
  },
  {
    name: 'the primary loses its power',
    isFailover: true,
    async begin(servers) {
      const primary = await thePrimary(servers);
      await primary.kill();
      await anotherPrimary(servers, primary);
      const repair = async () => {
        primary.plug(true);
        servers.startDatabase(primary);
      };
      return { name: 'the dead machine comes back', repair };
    },
  },
  {
    name: 'the primary is cut off from etcd and its replicas, not from the gateways',
    isFailover: true,
    async begin(servers) {
      const primary = await thePrimary(servers);
      const { etcd1, etcd2, etcd3 } = servers.machines;
      const others = [etcd1, etcd2, etcd3, ...(await rest(servers))];
      primary.separate(others);
      await anotherPrimary(servers, primary);
      await sleep(brokenMs);
      return { name: 'the split heals', repair: async () => primary.unite(others) };
    },
  },
  {
    name: 'the primary is cut off from everybody',
    isFailover: true,
    async begin(servers) {
      const primary = await thePrimary(servers);
      primary.plug(false);
      await anotherPrimary(servers, primary);
      await sleep(brokenMs);
      return { name: 'its network comes back', repair: async () => primary.plug(true) };
    },
  },
];

/** On a busy machine, Patroni's answer may come too late once. */
async function thePrimary(servers: Servers): Promise<Machine> {
  let primary: Machine | null = null;
  await until('there is a primary', async () => {
    primary = await servers.primary();
    return primary !== null;
  });
  return primary!;
}

/** Those that are not the primary. */
async function rest(servers: Servers): Promise<readonly Machine[]> {
  const primary = await thePrimary(servers);
  return servers.databases.filter((machine) => machine !== primary);
}

async function anotherPrimary(servers: Servers, old: Machine): Promise<void> {
  const others = servers.databases.filter((machine) => machine !== old);
  const isThere = async () => (await Promise.all(others.map(servers.roleOf))).includes('primary');
  await until('another machine is the primary', isThere, 100);
}
