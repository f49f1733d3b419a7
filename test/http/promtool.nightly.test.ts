/** What Prometheus' own checker says of `/metrics`, and of what examples/monitoring makes of it. Needs `promtool`, of Debian's package `prometheus`. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../house/source.ts';
import { countedGateway } from './counted-gateway.ts';

const folder = join(root, 'examples/monitoring');

/** What it prints, and its exit code. */
function promtool(args: readonly string[], input = ''): Promise<{ readonly code: unknown; readonly text: string }> {
  return new Promise((resolve) => {
    const child = execFile('promtool', args, { cwd: folder }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, text: `${stdout}${stderr}` }),
    );
    child.stdin?.end(input);
  });
}

test('promtool has no complaint about /metrics', async () => {
  const metrics = await countedGateway();
  expect(await promtool(['check', 'metrics'], await metrics())).toEqual({ code: 0, text: '' });
});

test('promtool finds the rules valid, and they do what their own tests say', async () => {
  const valid = { code: 0, text: expect.stringContaining('SUCCESS') };
  expect(await promtool(['check', 'config', 'prometheus.yml'])).toEqual(valid);
  expect(await promtool(['check', 'rules', 'rules.yml'])).toEqual(valid);
  expect(await promtool(['test', 'rules', 'rules.test.yml'])).toEqual(valid);
});

test('promtool understands every expression of the dashboard', async () => {
  const { panels } = JSON.parse(readFileSync(join(folder, 'dashboard.json'), 'utf8')) as {
    readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
  };
  const rules = panels
    .flatMap(({ targets = [] }) => targets)
    .map(({ expr }, index) => ({ record: `panel:${index}`, expr: expr.replaceAll('$__rate_interval', '1m') }));
  const path = join(mkdtempSync(join(tmpdir(), 'rules-')), 'rules.json');
  // JSON is YAML.
  writeFileSync(path, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
  expect(await promtool(['check', 'rules', path])).toEqual({
    code: 0,
    text: expect.stringContaining(`SUCCESS: ${rules.length} rules found`),
  });
});
