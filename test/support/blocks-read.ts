/**
 * How much of the tables a query reads: blocks, which unlike times are the same on every machine.
 */
import pg from 'pg';
import { bindSlots } from '../../src/graphql/compile/input/bind-slot.ts';
import type { TestExecution } from './execution.ts';
import type { TestDatabase } from './postgres.ts';
import { atEnd } from './when-over.ts';

/** Blocks of 8 kB that the one statement of a query reads, from the cache or not. */
export type BlocksRead = (
  role: string,
  query: string,
  variables?: Readonly<Record<string, unknown>>,
) => Promise<number>;

/** Reads on a connection of its own, which ends after the file. */
export async function blocksRead(database: TestDatabase, execution: TestExecution): Promise<BlocksRead> {
  const client = new pg.Client(database.url);
  await client.connect();
  atEnd(() => client.end());
  return async (role, query, variables = {}) => {
    const [statement] = await execution.statements(role, query, { variables });
    const values = bindSlots(statement!.slots, { variables, introspection: new Map(), countedBytes: 1_000_000 });
    await client.query(`set role ${role}`);
    const { rows } = await client.query(`explain (analyze, buffers, format json) ${statement!.text}`, values);
    const { Plan } = rows[0]['QUERY PLAN'][0];
    return Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'];
  };
}
