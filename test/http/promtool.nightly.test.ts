/** What Prometheus' own checker says of `/metrics`. Needs `promtool`, of Debian's package `prometheus`. */
import { execFile } from 'node:child_process';
import { expect, test } from 'vitest';
import { countedGateway } from './counted-gateway.ts';

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
  const metrics = await countedGateway();
  expect(await promtool(['check', 'metrics'], await metrics())).toEqual({ code: 0, text: '' });
});
