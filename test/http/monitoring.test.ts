/** Metrics of a gateway that has done each thing: what they say of it, and that rules and dashboard name no others. */
import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { series } from '../../src/server/metrics/series.ts';
import { listFiles, root } from '../house/source.ts';
import { type ExposedFamily, parseExposition } from '../support/exposition.ts';
import { countedGateway } from './counted-gateway.ts';
import { groupedBy, seriesIn } from './named-series.ts';

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string }[] };
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
}

const read = (path: string) => readFileSync(`${root}/${path}`, 'utf8');
const { groups } = parseYaml(read('examples/monitoring/rules.yml')) as { groups: { name: string; rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const alerts = rules.filter(({ alert }) => alert !== undefined);
const dashboard = JSON.parse(read('examples/monitoring/dashboard.json')) as Dashboard;
const page = read('docs/metrics.md');

let families: ReadonlyMap<string, ExposedFamily> = new Map();
/** Once for all tests, by the first that runs. */
beforeEach(async () => {
  if (families.size === 0) families = parseExposition(await (await countedGateway())());
});

/** The series of which an exposed name is a part. */
const familyOf = (name: string) => families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ''));

/** The values of a series, by its labels. */
function valuesOf(name: string): Record<string, number> {
  const samples = familyOf(name)?.samples.filter((sample) => sample.name === name) ?? [];
  return Object.fromEntries(samples.map(({ labels, value }) => [Object.values(labels).join(' '), value]));
}

test('metrics count attempts by method and result, calls to other services, emails and how requests end', () => {
  const of = (name: string) => valuesOf(`pgreflect_${name}`);
  expect(of('auth_attempts_total')).toEqual({
    'sign_in password success': 1,
    'sign_in password invalid_credentials': 1,
    'refresh refresh_token success': 1,
    'sign_up email success': 2,
    'sign_up email unexpected_failure': 1,
    'sign_up email captcha_failed': 1,
    'verify signup otp_expired': 1,
    'sign_in provider success': 1,
  });
  expect(of('external_call_duration_seconds_count')).toEqual({
    'hook before_user_created success': 5,
    'hook before_user_created failed': 1,
    'provider keycloak success': 1,
    'captcha turnstile success': 7,
    'captcha turnstile refused': 1,
    'text vonage success': 1,
    'text vonage failed': 1,
    'email smtp success': 1,
    'email smtp refused': 1,
  });
  expect(of('emails_total')).toEqual({ 'confirmation queued': 2, 'confirmation sent': 1, 'confirmation failed': 1 });
  expect(of('http_request_duration_seconds_count')).toMatchObject({
    '/graphql/v1 success': 2,
    '/graphql/v1 client_error': 1,
    '/graphql/v1 server_error': 1,
    '/auth/v1/signup server_error': 1,
    '/auth/v1/token client_error': 1,
  });
  expect(of('live_closed_total')).toEqual({ client: 1, stopping: 0 });
  expect(of('events_total')).toMatchObject({ masked_error: 2, hook_failed: 1 });
  expect(of('replica_used')).toEqual({ 1: 0 });
});

/** Labels that Prometheus adds, and those of histograms. */
const added = ['job', 'instance', 'le'];
const recorded = rules.flatMap(({ record }) => record ?? []);

/** Those of a recorded series begin its name. */
function labelsOf(name: string): readonly string[] {
  if (recorded.includes(name)) return name.slice(0, name.indexOf(':')).split('_');
  const family = name.replace(/_(bucket|sum|count)$/, '');
  return Object.entries(series).find(([each]) => each === name || each === family)?.[1].labels ?? [];
}

/** What an expression names that no gateway has: series, labels, and values that a label is compared with. */
function unknownIn(expression: string): readonly string[] {
  const named = seriesIn(expression).filter(({ name }) => name !== 'up' && !recorded.includes(name));
  const known = [...added, ...seriesIn(expression).flatMap(({ name }) => labelsOf(name))];
  return [
    ...named.filter(({ name }) => familyOf(name) === undefined).map(({ name }) => name),
    ...groupedBy(expression).filter((label) => !known.includes(label)),
    ...named.flatMap(({ name, labels: matchers }) =>
      matchers
        .filter(({ label }) => !['job', 'instance'].includes(label))
        .filter(({ label, operator, value }) => {
          const values = familyOf(name)?.samples.map((sample) => sample.labels[label]) ?? [];
          const wanted = operator.includes('~') ? value.split('|') : [value];
          return !wanted.every((each) => values.includes(each));
        })
        .map(({ label, value }) => `${name}: ${label}="${value}"`),
    ),
  ];
}

describe('the rules for Prometheus', () => {
  test('rules name series, labels and values that a gateway has, or rules before them', () => {
    expect(rules.flatMap(({ expr }) => unknownIn(expr))).toEqual([]);
    expect(recorded.length).toBeGreaterThan(3);
    const used = rules.flatMap(({ expr }) => seriesIn(expr).map(({ name }) => name));
    expect(used.filter((name) => name.includes(':') && !recorded.includes(name))).toEqual([]);
  });

  test('alerts say how bad an alert is, what happens, and where the page says what to do', () => {
    for (const { alert = '', labels, annotations } of alerts) {
      expect(alert).toMatch(/^Pgreflect([A-Z][a-z]+)+$/);
      expect(labels?.severity).toMatch(/^(critical|warning)$/);
      expect(annotations?.summary).toMatch(/^.{20,}\.$/);
      expect(annotations?.runbook).toBe(`docs/metrics.md#${alert.toLowerCase()}`);
    }
    const headings = [...page.matchAll(/^### (Pgreflect\w+)\n\n.{40}/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(alerts.map(({ alert }) => alert));
  });
});

describe('the dashboard for Grafana', () => {
  const targets = dashboard.panels.flatMap((panel) => panel.targets ?? []);

  test('the dashboard names series, labels and values that a gateway has', () => {
    expect(targets.length).toBeGreaterThan(50);
    const expressions = [...targets, ...dashboard.annotations.list].map(({ expr }) => expr);
    expect(expressions.flatMap(unknownIn)).toEqual([]);
    for (const expr of expressions) {
      expect(expr).toContain('job="$job",instance=~"$instance"');
      expect(expr).not.toMatch(/\[[0-9]/);
    }
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'job', 'instance']);
  });

  test('the dashboard shows every series of a gateway but a few', () => {
    const shown = new Set(
      targets.flatMap(({ expr }) => seriesIn(expr).map(({ name }) => name.replace(/_(bucket|sum|count)$/, ''))),
    );
    const hidden = [...families.keys()].filter((name) => !shown.has(name));
    expect(hidden).toEqual([
      'pgreflect_live_exact',
      'nodejs_heap_size_total_bytes',
      'nodejs_external_memory_bytes',
      'nodejs_eventloop_lag_p50_seconds',
    ]);
  });

  test('the dashboard has panels that explain themselves and do not overlap', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    const taken = new Set<string>();
    for (const { title, type, description, gridPos, targets: own = [] } of dashboard.panels) {
      expect(title.length).toBeGreaterThan(2);
      if (type !== 'row') expect([title, description?.endsWith('.')]).toEqual([title, true]);
      expect(new Set(own.map(({ refId }) => refId)).size).toBe(own.length);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(x).toBeLessThan(24);
          expect(taken.has(`${x} ${y}`), title).toBe(false);
          taken.add(`${x} ${y}`);
        }
      }
    }
  });
});

test('a series that a document names exists', () => {
  const ours =
    /pgreflect_(?:http|graphql|pool|model|replica|email|emails|auth|external|errors|events|rate_limited|build|processes|live)_\w+/g;
  const named = listFiles('docs', '.md').flatMap((path) =>
    [...read(path).matchAll(ours)].map(([name]) => `${path}: ${name}`),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((each) => familyOf(each.split(': ')[1] ?? '') === undefined)).toEqual([]);
});
