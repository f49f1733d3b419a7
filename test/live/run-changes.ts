/**
 * Writers change a table while subscribers of several roles come and go: what the subscribers got that they should not have.
 *
 * It goes in rounds. After each, the writers rest until everybody who is there has the last state, and so after each of a few
 * lone changes: a change that nobody was told of would else be hidden by the next.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../property/random.ts';
import { testGateway } from '../support/gateway.ts';
import { recordChanges } from '../support/live-record.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import type { WhenOver } from '../support/when-over.ts';
import { changingTable, closeTeams, History, hide, openTeams, show, Writer } from './changing-table.ts';
import { Crowd, type CrowdOptions } from './crowd.ts';

const writers = 4;
/** Watchers, milliseconds and lone changes of a round. `small` finds the same faults but that of a grant. */
const amounts = { long: [60, 2000, 8], short: [60, 1000, 4], small: [12, 500, 4] } as const;

interface ChangesOptions extends Pick<CrowdOptions, 'subscribe' | 'settleMs'> {
  readonly seed: number;
  /** Three rounds at least, whatever it says. */
  readonly seconds: number;
  /** `long`, where nothing is said. */
  readonly rounds?: keyof typeof amounts;
  /** Whether policies, grants and columns change, too. */
  readonly withSchemaChanges: boolean;
  /** Whether changed tables are recorded (`init --live`). Then nothing comes because of the interval, but changes of the schema. */
  readonly isExact?: boolean;
}

/** What has happened. */
interface Changes {
  readonly faults: readonly string[];
  readonly versions: number;
  readonly events: number;
  readonly subscriptions: number;
  readonly rolledBack: number;
}

/** Each with a version of its own. */
const schemaChanges: readonly (readonly string[])[] = [
  ['alter table item add extra int default 1', 'alter table item drop extra'],
  [hide, show],
  [closeTeams, openTeams],
];

export async function runChanges(options: ChangesOptions, whenOver: WhenOver): Promise<Changes> {
  const random = createRandom(options.seed);
  const [watchers, roundMs, loneChanges] = amounts[options.rounds ?? 'long'];
  const watch = readFileSync(new URL('../../sql/watch.sql', import.meta.url), 'utf8');
  const database = await createDatabase(
    watch,
    'grant usage on schema pgreflect to authenticator; grant select on pgreflect.catalog_change to authenticator',
    changingTable,
  );
  if (options.isExact) await recordChanges(database);
  // After a change of the schema, a query that rests waits for the interval once.
  const exactIntervalMs = options.withSchemaChanges ? 1000 : 600_000;
  const live = options.isExact ? { liveIntervalMs: exactIntervalMs, liveMinIntervalMs: 50 } : { liveIntervalMs: 50 };
  const { url, graphql } = await testGateway(database, { ...live, livePollMs: 20 }, whenOver);
  const history = new History(database);
  const connect = async () => {
    const writer = await Writer.connect(database, history, random.fork());
    whenOver(() => writer.end());
    return writer;
  };
  const writing = await Promise.all(Array.from({ length: writers }, connect));
  const lone = await connect();

  const faults: string[] = [];
  const crowd = new Crowd({
    url,
    history,
    random: random.fork(),
    size: watchers,
    ...options,
    found: (fault) => faults.push(fault),
  });
  /** To and fro, so that each round begins with what the table was created with. */
  const changeSchema = async (round: number) => {
    for (const statement of schemaChanges[round % schemaChanges.length]!) {
      const watched = crowd.slots.filter(({ isOfAnybody }) => isOfAnybody);
      crowd.isQuiet = statement === hide;
      await lone.transact([statement]);
      if (crowd.isQuiet) await crowd.wait(watched, async ({ isOver }) => isOver, 'been told that it may not read');
      crowd.isQuiet = false;
      await sleep(200);
    }
  };

  const end = performance.now() + options.seconds * 1000;
  for (let round = 0; faults.length === 0 && (round < 3 || performance.now() < end); round += 1) {
    const roundEnd = performance.now() + roundMs;
    const work = writing.map(async (writer) => {
      do await writer.write();
      while (performance.now() < roundEnd);
    });
    if (options.withSchemaChanges) work.push(changeSchema(round));
    await Promise.all(work);
    await crowd.settle();
    crowd.isQuiet = true;
    for (let change = 0; change < loneChanges && faults.length === 0; change += 1) {
      await lone.write();
      const isPair = change % 4 === 3;
      if (isPair) {
        await untilSlowRuns(database);
        await lone.transact([]);
      }
      await crowd.settle(crowd.slots.filter(({ isSlow }) => isPair || !isSlow));
    }
    crowd.isQuiet = false;
  }
  if (graphql.live.state().isExact !== (options.isExact === true)) faults.push('the gateway was in the other mode');
  await crowd.end();
  const rolledBack = writing.reduce((sum, writer) => sum + writer.rolledBack, lone.rolledBack);
  const { events, subscriptions } = crowd;
  return { faults, versions: await history.load(), events, subscriptions, rolledBack };
}

/** Waits for a run that takes so long that the next change is noticed during it; not for long, for nobody may be slow. */
async function untilSlowRuns(database: TestDatabase): Promise<void> {
  const sleeping = `select from pg_stat_activity
    where datname = current_database() and usename = 'authenticator' and wait_event = 'PgSleep'`;
  for (let looks = 0; looks < 100 && (await database.query(sleeping)).length === 0; looks += 1) await sleep(10);
}
