/**
 * The manifests of examples/deploy/kubernetes with the files that its page has people make: each by the schema of its kind, what they
 * name by what is there, and rendered as `kubectl` does where the machine has one.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments, parse as parseYaml } from 'yaml';
import { loadServeOptions } from '../../src/config/load-config.ts';
import { temporaryDirectory } from '../commands/run-command.ts';
import { tlsFixture } from '../support/encrypted-server.ts';

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  // biome-ignore lint/suspicious/noExplicitAny: each kind has its own, and the schemas look at it
  readonly [rest: string]: any;
}

interface Generator {
  readonly name: string;
  readonly envs?: readonly string[];
  readonly files?: readonly string[];
}

interface Kustomization {
  readonly resources: readonly string[];
  readonly configMapGenerator: readonly Generator[];
  readonly secretGenerator: readonly Generator[];
}

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'examples/deploy/kubernetes');
const page = readFileSync(join(folder, '../README.md'), 'utf8');
const kustomization = parseYaml(readFileSync(join(folder, 'kustomization.yaml'), 'utf8')) as Kustomization;
const manifests = kustomization.resources.flatMap((name) => manifestsIn(readFileSync(join(folder, name), 'utf8')));
const named = (kind: string, among: readonly Manifest[] = manifests) =>
  among.filter((manifest) => manifest.kind === kind);
const templates = [...named('Deployment'), ...named('Job')].map(({ spec }) => spec.template);

/** The folder after the commands of the page, with a password that has characters of its own in `sed`. */
function preparedFolder(): string {
  const prepared = join(temporaryDirectory(), 'kubernetes');
  cpSync(folder, prepared, { recursive: true });
  cpSync(tlsFixture('authority.pem'), join(prepared, 'database-ca.crt'));
  const run = (command: string) => execFileSync('sh', ['-c', command], { cwd: prepared, stdio: 'pipe' });
  const line = (start: string) => new RegExp(`^${start} .*$`, 'm').exec(page)![0];
  run(line('cp'));
  const secrets = join(prepared, 'secret.env');
  writeFileSync(secrets, readFileSync(secrets, 'utf8').replace('login-password=CHANGE_ME', 'login-password=a&b/c=d'));
  run(line('printf'));
  if (spawnSync('openssl', ['version']).status === 0) run(line('openssl'));
  return prepared;
}

function manifestsIn(text: string): readonly Manifest[] {
  return parseAllDocuments(text).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Manifest;
  });
}

const readValues = (name: string) => parseEnv(readFileSync(join(folder, name), 'utf8')) as Record<string, string>;
const secret = readValues('secret.example');
const settings = readValues('settings.properties');

async function expectSchemas(among: readonly Manifest[]): Promise<void> {
  for (const manifest of among) {
    const models = (await import(/* @vite-ignore */ `kubernetes-models/${manifest.apiVersion}`)) as Record<
      string,
      new (
        data: Manifest,
      ) => { validate(): void }
    >;
    const Model = models[manifest.kind]!;
    expect(() => new Model(manifest).validate(), `${manifest.kind} ${manifest.metadata.name}`).not.toThrow();
  }
}

function expectKnownFields(among: readonly Manifest[]): void {
  // Beside the packages, so that their types are found.
  const types = join(root, 'test/node_modules/.cache/manifests');
  mkdirSync(types, { recursive: true });
  const checks = among.map((manifest, index) => {
    const type = `import('kubernetes-models/${manifest.apiVersion}').I${manifest.kind}`;
    return `export const manifest${index} = ${JSON.stringify(manifest)} satisfies ${type};`;
  });
  writeFileSync(join(types, 'manifests.ts'), checks.join('\n'));
  const flags = ['--noEmit', '--ignoreConfig', '--strict', '--skipLibCheck', '--module', 'nodenext', 'manifests.ts'];
  const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), flags, { cwd: types, encoding: 'utf8' });
  expect(stdout).toBe('');
}

/** What the pods read, by kind and name: `Secret pgreflect`. */
function usedBy(template: unknown): readonly string[] {
  const used: string[] = [];
  JSON.stringify(template, (key, value) => {
    if (key === 'secretKeyRef' || key === 'secret') used.push(`Secret ${value.name}`);
    if (/^configMap/.test(key)) used.push(`ConfigMap ${value.name}`);
    return value;
  });
  return used;
}

describe('the manifests of Kubernetes', () => {
  test('the manifests of Kubernetes are all in the kustomization', () => {
    const files = readdirSync(folder).filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml');
    expect(kustomization.resources.toSorted()).toEqual(files.toSorted());
  });

  test('the manifests of Kubernetes fit the schemas of their kinds', () => expectSchemas(manifests));

  test('the manifests of Kubernetes have no field that their kind does not know', () => expectKnownFields(manifests));

  test('the manifests of Kubernetes refer to each other by names and ports that exist', () => {
    const labels = templates.map(({ metadata }) => metadata.labels.app);
    const selected = manifests.flatMap(({ spec }) => {
      const selector = spec?.podSelector?.matchLabels ?? spec?.selector?.matchLabels ?? spec?.selector;
      return selector?.app ?? [];
    });
    expect(selected.length).toBeGreaterThan(5);
    expect(selected.filter((app: string) => !labels.includes(app))).toEqual([]);
    const made = [
      ...kustomization.configMapGenerator.map(({ name }) => `ConfigMap ${name}`),
      ...kustomization.secretGenerator.map(({ name }) => `Secret ${name}`),
    ];
    const used = usedBy(templates);
    expect([...new Set(used)].sort()).toEqual(made.toSorted());
    const keys = [...JSON.stringify(templates).matchAll(/"secretKeyRef":\{"name":"pgreflect","key":"([^"]+)"/g)];
    expect([...new Set(keys.map(([, key]) => key))].sort()).toEqual(Object.keys(secret).sort());
    const ports = templates.flatMap(({ spec }) => spec.containers[0].ports?.map(({ name }: { name: string }) => name));
    const targets = [...JSON.stringify(manifests).matchAll(/"(?:targetPort|port)":"(\w+)"/g)].map(([, name]) => name);
    expect(targets.filter((name) => !ports.includes(name))).toEqual([]);
  });

  test('the manifests of Kubernetes let nothing run as root or write to its own image', () => {
    for (const { spec } of templates) {
      expect(spec.securityContext.runAsNonRoot).toBe(true);
      for (const { securityContext } of spec.containers)
        expect(securityContext).toMatchObject({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true });
    }
  });

  test('the manifests of Kubernetes let nothing into a pod that no policy names', () => {
    const policies = named('NetworkPolicy');
    expect(policies.some(({ spec }) => !('ingress' in spec) && Object.keys(spec.podSelector).length === 0)).toBe(true);
    const guarded = policies.map(({ spec }) => spec.podSelector.matchLabels?.app);
    const apps: string[] = templates.map(({ metadata }) => metadata.labels.app);
    expect(apps.filter((app) => !guarded.includes(app))).toEqual([]);
  });

  test('the manifests of Kubernetes encrypt every connection to PostgreSQL, and check the certificate', () => {
    const connections = Object.values(secret).filter((value) => value.startsWith('postgresql:'));
    expect(connections.length).toBe(4);
    const files = { 'ca.crt': 'database-ca', 'tls.crt': 'pgbouncer-tls' };
    for (const { searchParams } of connections.map((text) => new URL(text))) {
      expect(searchParams.get('sslmode')).toBe('verify-full');
      expect(Object.keys(files)).toContain(searchParams.get('sslrootcert')?.replace('/etc/pgreflect/', ''));
    }
    const pooler = readFileSync(join(folder, 'pgbouncer.ini'), 'utf8');
    for (const line of ['client_tls_sslmode = require', 'server_tls_sslmode = verify-full'])
      expect(pooler).toContain(line);
  });

  test('the manifests of Kubernetes give the gateway options that it knows', () => {
    const [gateway] = named('Deployment').filter(({ metadata }) => metadata.name === 'gateway');
    const given = gateway!.spec.template.spec.containers[0].env.map(
      ({ name, valueFrom }: { name: string; valueFrom: { secretKeyRef: { key: string } } }) => [
        name,
        secret[valueFrom.secretKeyRef.key],
      ],
    );
    const environment = { ...settings, ...Object.fromEntries(given) };
    const loaded = readOptions({ ...environment, PGREFLECT_JWT_SECRET: 'a secret of more than thirty-two characters' });
    expect({ problems: loaded.allProblems, warnings: loaded.warnings }).toEqual({ problems: [], warnings: [] });
    // The example's is refused, because everybody knows it.
    const problem = 'PGREFLECT_JWT_SECRET is the example value; run `pgreflect keys` to create one.';
    expect(readOptions(environment).allProblems).toEqual([{ problem, fix: null }]);
  });

  test('the manifests of Kubernetes give the superuser to `prepare` alone', () => {
    const holders = [...named('Deployment'), ...named('Job')].filter((one) =>
      JSON.stringify(one).includes('"key":"admin-database-url"'),
    );
    expect(holders.map(({ metadata }) => metadata.name)).toEqual(['prepare']);
    expect(Object.entries(secret).flatMap(([key, value]) => (value.includes('//postgres:') ? key : []))).toEqual([
      'admin-database-url',
    ]);
  });

  test('the manifests of Kubernetes have a monitor of a port that the gateway has', () => {
    const [monitor] = manifestsIn(readFileSync(join(folder, 'monitoring/pod-monitor.yaml'), 'utf8'));
    const [gateway] = named('Deployment').filter(({ metadata }) => metadata.name === 'gateway');
    const { metadata, spec } = gateway!.spec.template;
    expect(metadata.labels).toMatchObject(monitor!.spec.selector.matchLabels);
    const ports = spec.containers[0].ports.map(({ name }: { name: string }) => name);
    expect(ports).toContain(monitor!.spec.podMetricsEndpoints[0].port);
  });

  test('the commands of the page make what PgBouncer reads, and files that are never committed', () => {
    const prepared = preparedFolder();
    expect(readFileSync(join(prepared, 'userlist.txt'), 'utf8')).toBe('"authenticator" "a&b/c=d"\n');
    const ignored = readFileSync(join(folder, '.gitignore'), 'utf8').trim().split('\n');
    const made = readdirSync(prepared).filter((name) => !readdirSync(folder).includes(name));
    expect(made.filter((name) => !ignored.includes(name))).toEqual([]);
  });

  test('the commands of a release apply everything but the gateway first, and run the job again', () => {
    const commands = [...page.matchAll(/^kubectl .*$/gm)].map(([line]) => line);
    expect(commands.map((line) => line.split(' ')[1])).toEqual(['delete', 'apply', 'wait', 'apply', 'rollout']);
    expect(commands[0]).toContain('--selector app=prepare');
    expect(commands[1]).toContain(`--selector 'app notin (gateway)'`);
    // What the job and the pooler need has no such label.
    const held = manifests.filter(({ metadata }) => metadata.labels?.app === 'gateway').map(({ kind }) => kind);
    expect(held.sort()).toEqual(['Deployment', 'HorizontalPodAutoscaler', 'Ingress', 'PodDisruptionBudget', 'Service']);
  });

  if (spawnSync('kubectl', ['version', '--client']).status === 0) {
    test('the manifests of Kubernetes are rendered with secrets and settings whose names change with them', async () => {
      const prepared = preparedFolder();
      const render = () => manifestsIn(execFileSync('kubectl', ['kustomize', prepared], { encoding: 'utf8' }));
      const rendered = render();
      // Base64 is wrapped into lines, which the schema does not know.
      for (const { data } of named('Secret', rendered))
        for (const key of Object.keys(data)) data[key] = data[key].replaceAll(/\s/g, '');
      await expectSchemas(rendered);
      expectKnownFields(rendered);
      const made = [...named('ConfigMap', rendered), ...named('Secret', rendered)].map(
        ({ kind, metadata }) => `${kind} ${metadata.name}`,
      );
      const used = [...named('Deployment', rendered), ...named('Job', rendered)].flatMap(usedBy);
      expect([...new Set(used)].sort()).toEqual(made.toSorted());
      writeFileSync(join(prepared, 'settings.properties'), 'PGREFLECT_SCHEMAS=other\n');
      const changed = named('ConfigMap', render()).map(({ metadata }) => metadata.name);
      expect(changed.filter((name) => !made.includes(`ConfigMap ${name}`))).toHaveLength(1);
    });
  }
});

/** What `serve` says of options. */
function readOptions(environment: Readonly<Record<string, string>>) {
  const sources = { flags: new Map(), authFlags: new Map(), configFile: null, workingDirectory: folder, problems: [] };
  return loadServeOptions({ ...sources, environment });
}
