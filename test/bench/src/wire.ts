/**
 * What a request costs on the wire between a server and PostgreSQL: bytes each way and round trips, counted by a relay.
 */
import type { BenchCase } from './cases.ts';
import type { BenchDatabase } from './database.ts';
import { runLoad } from './load.ts';
import { startRelay } from './relay.ts';
import { type Contestant, type ContestantName, startContestants } from './targets.ts';

/** Per request, where one client waits for each answer; and round trips where many ask at once and servers may share them. */
export interface WireResult {
  readonly title: string;
  readonly name: string;
  readonly bytesToServer: number;
  readonly bytesToClient: number;
  readonly roundTrips: number;
  readonly sharedRoundTrips: number;
}

/** What is counted, and by how many clients at once in the second part. */
export interface WireOptions {
  readonly cases: readonly BenchCase[];
  readonly names: readonly ContestantName[];
  readonly poolSize: number;
  readonly sockets: number;
}

const counted = 300;

/** Counts for every case and server; each server runs alone, so that what passes is its own. */
export async function measureWire(db: BenchDatabase, options: WireOptions): Promise<WireResult[]> {
  const { names, cases } = options;
  const results: WireResult[] = [];
  for (const name of names.filter((each) => each !== 'http')) results.push(...(await measureServer(db, name, options)));
  return cases.flatMap(({ title }) => results.filter((each) => each.title === title));
}

async function measureServer(
  db: BenchDatabase,
  name: ContestantName,
  { cases, poolSize, sockets }: WireOptions,
): Promise<WireResult[]> {
  const relay = await startRelay(db.loginUrl);
  const [contestant] = await startContestants([name], { databaseUrl: relay.url, poolSize });
  if (contestant === undefined) throw new Error(`${name} has not been started`);
  try {
    const results: WireResult[] = [];
    for (const benchCase of cases.filter((each) => contestant.takesPart(each))) {
      const count = async (clients: number) => {
        const requests = await requestsFor(contestant, benchCase);
        if (benchCase.refill) await db.run(benchCase.refill(requests.length));
        relay.reset();
        await runLoad({ port: contestant.target.port, requests, sockets: clients, seconds: 60, once: true });
        return relay.counts();
      };
      // Until every connection has its statements.
      await count(sockets);
      const shared = await count(sockets);
      const alone = await count(1);
      results.push({
        title: benchCase.title,
        name,
        bytesToServer: alone.toServer / counted,
        bytesToClient: alone.toClient / counted,
        roundTrips: alone.roundTrips / counted,
        sharedRoundTrips: shared.roundTrips / counted,
      });
    }
    return results;
  } finally {
    await contestant.target.stop();
    relay.stop();
  }
}

/** So many requests, with the values of the case in turn; for rows that are used up each number once. */
function requestsFor(contestant: Contestant, benchCase: BenchCase): Promise<Buffer[]> {
  const { values, refill } = benchCase;
  const asked = Array.from({ length: counted }, (_, index) =>
    refill ? index + 1 : (values[index % values.length] ?? 1),
  );
  return contestant.requests(benchCase, asked);
}
