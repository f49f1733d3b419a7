/**
 * The least that one statement under a role can cost on the wire: settings and statement, both prepared, in one write with
 * one Sync. The bench's own copy, without errors, limits and freshness: it is the baseline, not the product.
 */
import type pg from 'pg';

/** The parts of the driver's connection that a flight uses. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  parse(message: { name: string; text: string; types: readonly number[] }): void;
  bind(message: { portal: string; statement: string; values: readonly string[] }): void;
  execute(message: { portal: string; rows: number }): void;
  sync(): void;
}

const settings = `select set_config('request.jwt.claims', $1, true), set_config('search_path', 'public', true), set_config('role', $2, true)`;
const known = new WeakMap<Wire, Set<string>>();

/** Runs a statement as anon; resolves to the first column of its last row. */
export function runOneFlight(
  client: pg.ClientBase,
  name: string,
  text: string,
  values: readonly string[],
): Promise<string> {
  return new Promise((resolve, reject) => {
    let result = '';
    const flight = {
      submit(wire: Wire) {
        const names = known.get(wire) ?? new Set<string>();
        known.set(wire, names);
        wire.stream.cork();
        const step = (statement: string, sql: string, slots: readonly string[]) => {
          if (!names.has(statement)) wire.parse({ name: statement, text: sql, types: [] });
          names.add(statement);
          wire.bind({ portal: '', statement, values: slots });
          wire.execute({ portal: '', rows: 0 });
        };
        step('settings', settings, ['{"role":"anon"}', 'anon']);
        step(name, text, values);
        wire.sync();
        wire.stream.uncork();
      },
      handleDataRow(message: { fields: (string | null)[] }) {
        result = String(message.fields[0]);
      },
      handleRowDescription() {},
      handleCommandComplete() {},
      handleEmptyQuery() {},
      handlePortalSuspended() {},
      handleError: reject,
      handleReadyForQuery: () => resolve(result),
    };
    client.query(flight as unknown as pg.Submittable);
  });
}
