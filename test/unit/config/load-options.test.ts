import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ConfigError } from '../../../src/config/config-error.ts';
import { loadConfig, loadServeOptions } from '../../../src/config/load-config.ts';
import { loadOptions, type Sources } from '../../../src/config/load-options.ts';
import { type OptionName, optionNames, optionOf } from '../../../src/config/options.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'pgreflect-config-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

interface Given {
  readonly flags?: Partial<Record<OptionName, readonly string[]>>;
  readonly environment?: Record<string, string>;
  readonly toml?: string;
  readonly configFile?: string;
}

function sources({ flags = {}, environment = {}, toml, configFile }: Given): Sources {
  if (toml !== undefined) writeFileSync(join(directory, 'pgreflect.toml'), toml);
  const entries = Object.entries(flags) as [OptionName, readonly string[]][];
  return {
    flags: new Map(entries),
    authFlags: new Map(),
    configFile: configFile ?? null,
    environment,
    workingDirectory: directory,
    problems: [],
  };
}

const databaseUrl = 'postgresql://authenticator:s3cret@db:5432/shop';
const jwtSecret = 'a-secret-of-at-least-thirty-two-characters';
const minimal = { PGREFLECT_DATABASE_URL: databaseUrl, PGREFLECT_JWT_SECRET: jwtSecret };

function problemsOf(given: Given): readonly string[] {
  try {
    loadConfig(sources(given));
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ problem }) => problem);
    throw error;
  }
}

describe('where a value comes from', () => {
  const everywhere = {
    flags: { port: ['1'] },
    environment: { PGREFLECT_PORT: '2', PORT: '3' },
    toml: 'port = 4',
  };
  const load = (given: Given) => {
    const { values, origins } = loadOptions(['port'], sources(given));
    return [values.port, origins.get('port')];
  };

  test('a flag wins over everything', () => {
    expect(load(everywhere)).toEqual([1, '--port']);
  });

  test('our variable wins over the one other software uses', () => {
    expect(load({ ...everywhere, flags: {} })).toEqual([2, 'PGREFLECT_PORT']);
  });

  test('a variable of other software wins over the file', () => {
    expect(load({ environment: { PORT: '3' }, toml: 'port = 4' })).toEqual([3, 'PORT']);
  });

  test('the file wins over the default', () => {
    expect(load({ toml: 'port = 4' })).toEqual([4, 'pgreflect.toml: port']);
  });

  test('the default holds where nothing is given', () => {
    expect(load({})).toEqual([54321, undefined]);
  });

  test('an empty variable counts as not given, as compose files write it', () => {
    expect(load({ environment: { PGREFLECT_PORT: '', PORT: '3' } })).toEqual([3, 'PORT']);
  });

  test('another file can be named by flag or variable', () => {
    writeFileSync(join(directory, 'other.toml'), 'port = 5');
    expect(load({ configFile: 'other.toml', toml: 'port = 4' })).toEqual([5, 'other.toml: port']);
    expect(load({ environment: { PGREFLECT_CONFIG: 'other.toml' } })).toEqual([5, 'other.toml: port']);
  });

  test('a secret may lie in a file of its own', () => {
    writeFileSync(join(directory, 'secret'), `${jwtSecret}\n`);
    const { values } = loadOptions(['jwtSecret'], sources({ environment: { PGREFLECT_JWT_SECRET_FILE: 'secret' } }));
    expect(values.jwtSecret).toBe(jwtSecret);
  });

  test('a list in the file is as good as names with commas', () => {
    const { values } = loadOptions(['schemas'], sources({ toml: 'schemas = ["shop", "blog"]' }));
    expect(values.schemas).toEqual(['shop', 'blog']);
  });
});

describe('a complete configuration', () => {
  test('a list may be several flags', () => {
    const flags = { corsOrigins: ['https://a.example', 'https://b.example,https://c.example'], schemas: ['a', 'b'] };
    expect(loadConfig(sources({ environment: minimal, flags }))).toMatchObject({
      corsOrigins: ['https://a.example', 'https://b.example', 'https://c.example'],
      schemas: ['a', 'b'],
    });
    expect(problemsOf({ environment: minimal, flags: { schemas: ['a', 'a'] } })).toEqual([
      '--schemas names "a" twice (given: "a,a").',
    ]);
  });

  test('two values are enough', () => {
    const config = loadConfig(sources({ environment: minimal }));
    expect(config).toMatchObject({
      databaseUrl,
      adminDatabaseUrl: databaseUrl,
      jwtSecret,
      port: 54321,
      externalUrl: 'http://localhost:54321',
      allowedRoles: ['anon', 'authenticated', 'service_role'],
      localProject: false,
      serverTiming: false,
    });
  });

  test('the allowed roles follow the names of the three roles', () => {
    const environment = { ...minimal, PGREFLECT_ANON_ROLE: 'guest' };
    expect(loadConfig(sources({ environment })).allowedRoles).toEqual(['guest', 'authenticated', 'service_role']);
  });

  test('keys alone verify as well as a secret', () => {
    const jwk = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y', d: 'd', key_ops: ['sign', 'verify'] };
    const environment = { PGREFLECT_DATABASE_URL: databaseUrl, GOTRUE_JWT_KEYS: JSON.stringify([jwk]) };
    expect(loadConfig(sources({ environment })).jwtKeys).toEqual([{ ...jwk, alg: 'ES256' }]);
  });

  test('the external URL may come from the name that includes the path of the auth service', () => {
    const environment = { ...minimal, API_EXTERNAL_URL: 'https://api.example.com/auth/v1' };
    expect(loadConfig(sources({ environment })).externalUrl).toBe('https://api.example.com');
  });
});

test('a value that means none wins over a default that is one, whatever the option', () => {
  const takesOff = optionNames.filter((name) => {
    try {
      return optionOf(name).default !== null && optionOf(name).kind.parseText('off') === null;
    } catch {
      return false;
    }
  });
  expect(takesOff).toContain('managementRateLimit');
  const flags = Object.fromEntries(takesOff.map((name) => [name, ['off']]));
  const config = loadConfig(sources({ environment: minimal, flags }));
  expect({ ...config, ...config.limits }).toMatchObject(Object.fromEntries(takesOff.map((name) => [name, null])));
});

describe('the config.toml of the Supabase CLI', () => {
  const toml = `project_id = "shop"
[api]
port = 54321
schemas = ["public", "graphql_public"]
[db.seed]
sql_paths = ["./seed.sql"]
[storage.image_transformation]
enabled = true
[edge_runtime.secrets]
key = "env(NOT_SET)"
[remotes.staging.auth]
site_url = "https://staging.test"
[auth]
site_url = "https://app.test"
`;

  test('the config.toml of the Supabase CLI is read whole, and one line names the parts that are not here', () => {
    mkdirSync(join(directory, 'supabase'));
    writeFileSync(join(directory, 'supabase/config.toml'), toml);
    const configFile = 'supabase/config.toml';
    expect(loadConfig(sources({ environment: minimal, configFile })).authValues).toEqual({
      site_url: 'https://app.test',
    });
    expect(loadOptions([], sources({ configFile }))).toMatchObject({
      problems: [],
      warnings: [
        'supabase/config.toml: no effect here, as only its auth counts: api, db, edge_runtime, project_id, remotes, storage.',
      ],
    });
  });

  test('the config.toml of the Supabase CLI may have a mistyped table, which is told', () => {
    writeFileSync(join(directory, 'config.toml'), toml.replace('[auth]', '[auht]'));
    const problem = 'config.toml: there is no option "auht".';
    expect(problemsOf({ environment: minimal, configFile: 'config.toml' })).toEqual([problem]);
  });
});

describe('what is refused', () => {
  test('every problem is in one list', () => {
    const toml = 'max_dept = 3\nlog_level = "loud"';
    const flags = { port: ['70000'], schemas: ['a,,b'], workers: ['0'] };
    expect(problemsOf({ flags, toml })).toEqual([
      'pgreflect.toml: there is no option "max_dept".',
      '--schemas must be names separated by commas, none of them empty (given: "a,,b").',
      '--port must be a whole number from 0 to 65535 (given: "70000").',
      '--workers must be a whole number from 1 to 256 (given: "0").',
      'pgreflect.toml: log_level must be one of trace, debug, info, warn, error, fatal, silent (given: "loud").',
      'No database is named.',
      'No signing secret is given (--jwt-secret or --jwt-keys), so no key and no token could be checked.',
    ]);
  });

  test('an answer so large that its text could not be held', () => {
    const flags = { maxResponseBytes: ['67108865'] };
    expect(problemsOf({ flags, environment: minimal })).toEqual([
      '--max-response-bytes must be a whole number from 1 to 67108864 (given: "67108865").',
    ]);
  });

  test('an unknown key names the nearest one', () => {
    const loaded = loadOptions([], sources({ toml: 'statement-timeout-ms = 5' }));
    expect(loaded.problems[0]?.fix).toBe('Did you mean "statement_timeout_ms"?');
  });

  test('the same key twice in the file names the line', () => {
    expect(problemsOf({ environment: minimal, toml: 'port = 1\nport = 2' })).toEqual([
      expect.stringMatching(/^pgreflect.toml, line 2: /),
    ]);
  });

  test('a bracket that is not closed names the line where it is', () => {
    const problem = (toml: string) => problemsOf({ environment: minimal, toml })[0];
    const list = 'port = 1 # [\nlog_level = "[{"\nschemas = ["app",\n  "b"\n\nhost = "::"\n';
    expect(problem(list)).toBe('pgreflect.toml, line 3: "[" is not closed.');
    expect(problem('[auth]\nschemas = ["app"\nport = 1\n')).toBe('pgreflect.toml, line 2: "[" is not closed.');
    expect(problem('schemas = ["app"]\nport = = 1\n')).toMatch(/^pgreflect.toml, line 2: (?!"\[")/);
    expect(problem('schemas = ["app"] x\n')).toMatch(/^pgreflect.toml, line 1: (?!"\[")/);
  });

  test('a flag given twice', () => {
    expect(problemsOf({ environment: minimal, flags: { port: ['1', '2'] } })).toEqual(['--port is given 2 times.']);
  });

  test('a secret given as text and as a file', () => {
    writeFileSync(join(directory, 'secret'), jwtSecret);
    const environment = { ...minimal, PGREFLECT_JWT_SECRET_FILE: 'secret' };
    expect(problemsOf({ environment })).toEqual(['PGREFLECT_JWT_SECRET and PGREFLECT_JWT_SECRET_FILE are both set.']);
  });

  test('external URLs that disagree', () => {
    const environment = {
      ...minimal,
      PGREFLECT_EXTERNAL_URL: 'https://a.example',
      API_EXTERNAL_URL: 'https://b.example/auth/v1',
    };
    expect(problemsOf({ environment })).toEqual([
      '--external-url says "https://a.example", API_EXTERNAL_URL says "https://b.example".',
    ]);
  });

  test('an external URL that no path can be put behind', () => {
    for (const url of ['api.example.com/auth/v1', 'ftp://api.example.com', 'https://api.example.com/?region=eu']) {
      expect(problemsOf({ environment: { ...minimal, API_EXTERNAL_URL: url } })).toEqual([
        expect.stringMatching(/^API_EXTERNAL_URL must be an http or https address/),
      ]);
      expect(problemsOf({ environment: minimal, flags: { externalUrl: [url] } })).toEqual([
        expect.stringMatching(/^--external-url must be an http or https address/),
      ]);
    }
  });

  test('one port for two servers', () => {
    const flags = { port: ['9464'], metricsPort: ['9464'] };
    expect(problemsOf({ environment: minimal, flags })).toEqual(['--port and --metrics-port are both 9464.']);
    expect(
      loadServeOptions(sources({ environment: minimal, flags: { port: ['0'], metricsPort: ['0'] } })).warnings,
    ).toEqual([]);
  });

  test('read replicas may be several', () => {
    const flags = { readReplicaUrl: [databaseUrl, `${databaseUrl}2`] };
    const config = loadConfig(sources({ environment: minimal, flags }));
    expect([config.readReplicaUrls, config.maxReplicaLagMs]).toEqual([flags.readReplicaUrl, 5000]);
  });

  test('several read replicas may be in a list of the file, in a variable or in the file of a secret', () => {
    const urls = [databaseUrl, `${databaseUrl}2`];
    const replicasOf = (given: Given) => loadConfig(sources(given)).readReplicaUrls;
    expect(replicasOf({ environment: minimal, toml: `read_replica_url = ${JSON.stringify(urls)}` })).toEqual(urls);
    const environment = { ...minimal, PGREFLECT_READ_REPLICA_URL: urls.join(' ') };
    expect(replicasOf({ environment, toml: '' })).toEqual(urls);
    writeFileSync(join(directory, 'replicas'), `${urls.join('\n')}\n`);
    expect(replicasOf({ environment: { ...minimal, PGREFLECT_READ_REPLICA_URL_FILE: 'replicas' } })).toEqual(urls);
  });

  test('role names that mean the login role', () => {
    expect(problemsOf({ environment: minimal, flags: { allowedRoles: ['anon,none'] } })).toEqual([
      expect.stringContaining('--allowed-roles must be the name of a role'),
    ]);
  });

  test('a message never shows a secret', () => {
    const environment = { PGREFLECT_DATABASE_URL: 'mysql://root:hunter2@db', PGREFLECT_JWT_SECRET: 'tooshort-hunter2' };
    const text = problemsOf({ environment, flags: { jwtKeys: ['[{"kty":"oct","hunter2":1}]'] } }).join('\n');
    expect(text).toContain('PGREFLECT_JWT_SECRET must have at least 32 characters');
    expect(text).not.toContain('hunter2');
  });

  test('a mistake in the file does not show the line, which may hold a secret', () => {
    expect(problemsOf({ environment: minimal, toml: 'jwt_secret = hunter2 oops' }).join()).not.toContain('hunter2');
  });
});

test('a mistyped variable is only a warning, because orchestrators invent names with our prefix', () => {
  const environment = { ...minimal, PGREFLECT_JWT_SERCET: 'x', PGREFLECT_SERVICE_HOST: '10.0.0.1' };
  expect(loadServeOptions(sources({ environment })).warnings).toEqual([
    'There is no variable PGREFLECT_JWT_SERCET; did you mean PGREFLECT_JWT_SECRET? It is ignored.',
  ]);
});

test('mistyped fields of the auth configuration are recognised like mistyped options', () => {
  const environment = { ...minimal, PGREFLECT_SMTP_HOTS: 'mail.test', PGREFLECT_SMTP_PASS_FILE: 'password' };
  expect(loadOptions([], sources({ environment })).warnings).toEqual([
    'There is no variable PGREFLECT_SMTP_HOTS; did you mean PGREFLECT_SMTP_HOST? It is ignored.',
  ]);
  expect(loadOptions([], sources({ toml: 'smtp_hots = "mail.test"' })).problems).toEqual([
    { problem: 'pgreflect.toml: there is no option "smtp_hots".', fix: 'Did you mean "smtp_host"?' },
  ]);
});
