/**
 * A cluster as the world of a storm: people behind the machine in front, the events of the cluster as the weather, and beside them the
 * cluster's own clients.
 */
import type { Ledger } from '../storm/ledger.ts';
import { type Delivery, ledgerSql, send, type World } from '../storm/world.ts';
import type { WhenOver } from '../support/when-over.ts';
import { Book } from './book.ts';
import { startClients } from './clients.ts';
import { events } from './events.ts';
import { watchGateways } from './gateway-memory.ts';
import { hostAddress } from './machines.ts';
import { checkEnd, describe, letHappen } from './run-cluster.ts';
import { startServers } from './servers.ts';

/** How it is set up. */
export interface ClusterWorldOptions {
  readonly delivery: Delivery;
  readonly ledger: Ledger;
  /** Hears of its course, a line at a time. */
  readonly onEvent: (text: string) => void;
}

/** Starts it; it stops when the storm is over. */
export async function startClusterWorld(
  { delivery, ledger, onEvent }: ClusterWorldOptions,
  whenOver: WhenOver,
): Promise<World> {
  const memory = watchGateways(whenOver);
  const servers = await startServers(whenOver, (name) => ({
    PGREFLECT_MAILER_DELIVERY: delivery,
    // They name the addresses of clients.
    PGREFLECT_TRUSTED_PROXIES: `${hostAddress}/24`,
    ...memory.env(name),
  }));
  const query = async <T>(sql: string, values?: readonly unknown[]) => {
    const primary = await servers.primary();
    if (primary === null) throw new Error('There is no primary.');
    return servers.query<T>(primary, sql, values);
  };
  await query(ledgerSql);
  const book = new Book((text) => ledger.violation(text));
  const clients = startClients(servers, book);
  const watching = new AbortController();
  const watch = memory.watch(servers, watching.signal);
  const stop = async () => {
    watching.abort();
    await Promise.all([clients.stopWriting(), clients.stopWatching(), watch]);
  };
  whenOver(stop);
  onEvent('all servers run');
  return {
    ...servers.mail,
    delivery,
    // A gateway that HAProxy holds to be down goes on until the time of the request is over.
    restMs: 15_000,
    query,
    complaints: servers.logged,
    disturbances: Object.fromEntries(
      events.map((event) => [
        event.name,
        async () => {
          for (const seen of await letHappen(event, servers, book)) onEvent(`  ${describe(seen)}`);
        },
      ]),
    ),
    fetch: (_pick, ...request) => send(servers.url, ...request),
    async finish() {
      await servers.untilWell();
      await clients.stopWriting();
      await checkEnd(servers, book, delivery);
      await stop();
      for (const [kind, number] of book.requests) ledger.count(`beside: ${kind}`, number);
      for (const [reason, number] of book.reasons()) ledger.count(`beside, failed: ${reason}`, number);
      for (const line of memory.judge(ledger)) onEvent(line);
    },
  };
}
