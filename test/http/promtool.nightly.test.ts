/** What Prometheus' own checker says of `/metrics`, and of what examples/monitoring makes of it. Needs `prometheus` and `promtool`, of Debian's package `prometheus`. */
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { root } from '../house/source.ts';
import { findFreePort } from '../support/free-port.ts';
import { testGateway } from '../support/gateway.ts';
import { createAuthDatabase } from '../support/postgres.ts';
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

test('Prometheus scrapes a gateway on its own port and with an access token, and evaluates the rules', async () => {
  const accessToken = `sbp_${'1'.repeat(40)}`;
  const gateway = await testGateway(await createAuthDatabase(), { metricsPort: 0, accessToken });
  const directory = mkdtempSync(join(tmpdir(), 'prometheus-'));
  writeFileSync(join(directory, 'token'), accessToken);
  writeFileSync(join(directory, 'rules.yml'), readFileSync(join(folder, 'rules.yml')));
  const own = readFileSync(join(folder, 'prometheus.yml'), 'utf8').replaceAll('15s', '1s');
  const withToken = `
  - job_name: with_token
    authorization: { credentials_file: ${join(directory, 'token')} }
    static_configs: [{ targets: ["${new URL(gateway.url).host}"] }]\n`;
  const config = join(directory, 'prometheus.yml');
  writeFileSync(config, own.replace('127.0.0.1:9464', `127.0.0.1:${gateway.metricsPort}`) + withToken);
  const port = await findFreePort();
  const address = `127.0.0.1:${port}`;
  const options = ['--storage.tsdb.path', join(directory, 'data'), '--web.listen-address', address];
  const prometheus = spawn('prometheus', ['--config.file', config, ...options], { stdio: 'ignore' });
  onTestFinished(() => void prometheus.kill());
  const values = async (expression: string) => {
    const response = await fetch(`http://${address}/api/v1/query?query=${encodeURIComponent(expression)}`);
    const { data } = (await response.json()) as {
      data: { result: { metric: { job: string }; value: [number, string] }[] };
    };
    return Object.fromEntries(data.result.map(({ metric, value: [, value] }) => [metric.job, Number(value)]));
  };
  await vi.waitFor(async () => {
    expect(await values('pgreflect_ready')).toEqual({ pgreflect: 1, with_token: 1 });
    expect(await values('job:pgreflect_http_requests:rate5m')).toMatchObject({ with_token: expect.any(Number) });
  }, 60_000);
  expect(await values('up')).toEqual({ pgreflect: 1, with_token: 1 });
  expect(await values('count by (job) (pgreflect_build_info{version!=""})')).toEqual({ pgreflect: 1, with_token: 1 });
  // With the version of OpenMetrics that it asks for, bounds are floating-point numbers.
  const bounds = await values('count by (job) (pgreflect_pool_wait_duration_seconds_bucket{pool="system",le="1.0"})');
  expect(bounds).toEqual({ pgreflect: 1, with_token: 1 });
}, 90_000);

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
