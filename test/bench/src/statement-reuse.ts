/**
 * Two hundred different operations in turn: how often a connection already has the statement prepared, and
 * whether the gateway's memory stays where it is.
 *
 * The gateway of this measurement reaches PostgreSQL through a relay that counts the protocol's messages: a statement that
 * is not prepared costs a Parse, every statement costs a Bind.
 */
import type { BenchDatabase } from './database.ts';
import { runLoad } from './load.ts';
import { residentMib } from './processes.ts';
import { startRelay } from './relay.ts';
import { ourRequest, startOurs } from './targets.ts';

/** What was found after every connection has run every operation. */
export interface StatementReuse {
  readonly operations: number;
  readonly requests: number;
  /** Share of the requests whose statements were all prepared already. */
  readonly hitRate: number;
  readonly beforeMib: number;
  readonly afterMib: number;
}

const operations = 200;
const columns = ['id', 'accountId', 'title', 'score', 'publishedAt'];

/** Every operation: another selection of columns, in another order, under other names. */
function documents(): string[] {
  return Array.from({ length: operations }, (_, index) => {
    const fields = columns
      .filter((_column, bit) => (index >> bit) & 1)
      .map((column) => `c${index}_${column}: ${column}`);
    return `query ($n: Int!) { postByPk(id: $n) { id ${fields.join(' ')} x${index}: nodeId } }`;
  });
}

/** Runs the operations against a gateway of their own. */
export async function measureStatementReuse(
  db: BenchDatabase,
  poolSize: number,
  seconds: number,
): Promise<StatementReuse> {
  const relay = await startRelay(db.loginUrl);
  const { target } = await startOurs({ databaseUrl: relay.url, poolSize });
  try {
    const requests = documents().map((query, index) => ourRequest(query, { n: 1 + index }));
    const load = { port: target.port, requests, sockets: 2 * poolSize };
    // Until each connection has run each operation several times.
    await runLoad({ ...load, seconds: Math.max(4, seconds) });
    const beforeMib = residentMib(target.pid);
    relay.reset();
    const { requests: count } = await runLoad({ ...load, seconds });
    const hitRate = 1 - relay.counts().parses / count;
    return { operations, requests: count, hitRate, beforeMib, afterMib: residentMib(target.pid) };
  } finally {
    await target.stop();
    relay.stop();
  }
}
