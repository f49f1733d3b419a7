/** What Prometheus' own checker says of `/metrics`. Needs `promtool`, of Debian's package `prometheus`. */
import { execFile } from 'node:child_process';
import { expect, test } from 'vitest';
import { testGateway } from '../support/gateway.ts';
import { createAuthDatabase } from '../support/postgres.ts';

/** What it prints, and its exit code. */
function promtool(args: readonly string[], input: string): Promise<{ readonly code: unknown; readonly text: string }> {
  return new Promise((resolve) => {
    const child = execFile('promtool', args, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, text: `${stdout}${stderr}` }),
    );
    child.stdin?.end(input);
  });
}

test('promtool has no complaint about /metrics', async () => {
  const gateway = await testGateway(await createAuthDatabase(), { metricsPort: 0 });
  await gateway.ask('{ __typename }');
  const response = await fetch(`http://127.0.0.1:${gateway.metricsPort}/metrics`);
  expect(await promtool(['check', 'metrics'], await response.text())).toEqual({ code: 0, text: '' });
});
