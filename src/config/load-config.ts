/** Makes the `Config` of a gateway from all options, and checks them against each other. */
import { resolve } from 'node:path';
import { unusableProxies } from '../shared/egress/proxy.ts';
import { type LoadedAuthConfig, loadAuthConfig } from './auth/load-auth-config.ts';
import { type Config, defaultConfig, type Limits } from './config.ts';
import { ConfigError, type Problem } from './config-error.ts';
import { type LoadedOptions, loadOptions, type OptionValues, type Sources } from './load-options.ts';
import { type OptionName, type OptionsOf, optionNames, optionOf } from './options.ts';
import { baseUrl } from './value-kinds.ts';

/** Values that a local project sets as defaults or overrides; null for `serve`. */
type LocalProject = Pick<
  Config,
  | 'databaseUrl'
  | 'adminDatabaseUrl'
  | 'projectRef'
  | 'shellCall'
  | 'jwtSecret'
  | 'jwtKeys'
  | 'anonKey'
  | 'serviceKey'
  | 'accessToken'
  | 'exampleOperations'
>;

type Name = Exclude<OptionName, OptionsOf<'Preparation'>>;
type Values = OptionValues<Name>;

/** Options only of `init` are not part of a `Config`. */
const names = optionNames.filter((name) => optionOf(name).group !== 'Preparation') as Name[];

/** Everything loaded from the sources; all problems are in `allProblems`. */
type Loaded = LoadedOptions<Name> & { readonly auth: LoadedAuthConfig; readonly allProblems: readonly Problem[] };

/** Options of the command `serve`, read only from the sources. Problems are in the result. */
export function loadServeOptions(sources: Sources): Loaded {
  const loaded = loadAll(names, sources);
  return { ...loaded, allProblems: [...loaded.allProblems, ...missing(loaded)] };
}

/** The configuration of `pgreflect serve`; does not connect. @throws ConfigError with every problem. */
export function loadConfig(sources: Sources): Config {
  return toConfig(withoutProblems(loadServeOptions(sources)), null, sources);
}

/**
 * The configuration of `pgreflect start`: as for `serve`, but values kept by the local project override options.
 *
 * @throws ConfigError with every problem of the options.
 */
export function loadLocalConfig(sources: Sources, project: LocalProject): Config {
  return toConfig(loadStartOptions(sources), project, sources);
}

/** The options of the command `start`. @throws ConfigError with every problem. */
export function loadStartOptions(sources: Sources): Loaded {
  const taken = names.filter((name) => optionOf(name).commands.includes('start'));
  return withoutProblems(loadAll(taken, sources));
}

function withoutProblems(loaded: Loaded): Loaded {
  if (loaded.allProblems.length > 0) throw new ConfigError(loaded.allProblems);
  return loaded;
}

function loadAll(taken: readonly Name[], sources: Sources): Loaded {
  const loaded = loadOptions(taken, sources);
  const { path, isNamed, auth: file } = loaded.file;
  const auth = loadAuthConfig({
    ...sources,
    flags: sources.authFlags,
    file,
    isNamed,
    fileName: path ?? 'pgreflect.toml',
  });
  const own = [...disagreements(loaded, sources), ...samePorts(loaded), ...withoutDocuments(loaded)];
  const allProblems = [...loaded.problems, ...own, ...auth.problems];
  const proxies = unusableProxies(sources.environment).map(
    (name) => `${name} is not the address of an HTTP proxy, so requests to other machines go without one.`,
  );
  return { ...loaded, auth, warnings: [...loaded.warnings, ...auth.warnings, ...proxies], allProblems };
}

function missing({ values, problems, origins }: LoadedOptions<Name>): readonly Problem[] {
  const found: Problem[] = [];
  const isBroken = (name: Name) => problems.length > 0 && origins.has(name);
  if (values.databaseUrl === null && !isBroken('databaseUrl')) {
    found.push({
      problem: 'No database is named.',
      fix: 'Give --database-url postgresql://authenticator:PASSWORD@HOST:5432/DATABASE, or set DATABASE_URL.\nWithout a database of your own: pgreflect start',
    });
  }
  const verifiers: readonly Name[] = ['jwtSecret', 'jwtKeys', 'jwks', 'jwksUrl'];
  if (verifiers.every((name) => values[name] === null && !isBroken(name))) {
    found.push({
      problem: 'No signing secret is given (--jwt-secret or --jwt-keys), so no key and no token could be checked.',
      fix: '(umask 077; pgreflect keys > pgreflect.env) && set -a && . ./pgreflect.env && set +a',
    });
  }
  return found;
}

/** Two servers cannot share a port; port 0 gives each its own. */
function samePorts({ values }: LoadedOptions<Name>): readonly Problem[] {
  const { port, metricsPort } = values;
  if (!metricsPort || metricsPort !== port) return [];
  return [{ problem: `--port and --metrics-port are both ${port}.`, fix: 'Give the metrics a port of their own.' }];
}

function withoutDocuments({ values, origins }: LoadedOptions<Name>): readonly Problem[] {
  if (!values.trustedOnly || values.trustedDocuments !== null || origins.has('trustedDocuments')) return [];
  return [
    { problem: '--trusted-only refuses every document.', fix: 'Name the trusted ones with --trusted-documents.' },
  ];
}

/** `API_EXTERNAL_URL` must name the same origin as `--external-url`, followed by the path of the auth service. */
function disagreements({ values }: LoadedOptions<Name>, sources: Sources): readonly Problem[] {
  const given = values.externalUrl ?? null;
  let fromApi: string | null;
  try {
    fromApi = apiExternalUrl(sources);
  } catch (error) {
    return [{ problem: `API_EXTERNAL_URL ${(error as Error).message}.`, fix: null }];
  }
  if (given === null || fromApi === null || given === fromApi) return [];
  const problem = `--external-url says "${given}", API_EXTERNAL_URL says "${fromApi}".`;
  return [{ problem, fix: 'Keep one of them (API_EXTERNAL_URL is the external URL with /auth/v1 behind it).' }];
}

/** @throws Error with the rest of a sentence. */
function apiExternalUrl(sources: Sources): string | null {
  const text = sources.environment.API_EXTERNAL_URL;
  return text ? baseUrl.parseText(text).replace(/\/auth\/v1$/, '') : null;
}

function toConfig({ values, auth }: Loaded, project: LocalProject | null, sources: Sources): Config {
  const config = takeValues<Pick<Config, keyof typeof defaultConfig>>(defaultConfig, values);
  const givesKeys = config.jwtSecret !== null || config.jwtKeys.length > 0;
  const databaseUrl = project?.databaseUrl ?? values.databaseUrl!;
  return {
    ...config,
    limits: takeValues<Limits>(defaultConfig.limits, values),
    databaseUrl,
    adminDatabaseUrl: project?.adminDatabaseUrl ?? values.adminDatabaseUrl ?? databaseUrl,
    readReplicaUrls: values.readReplicaUrl ?? [],
    trustedDocuments: config.trustedDocuments && resolve(sources.workingDirectory, config.trustedDocuments),
    externalUrl: values.externalUrl ?? apiExternalUrl(sources) ?? `http://localhost:${config.port}`,
    projectRef: config.projectRef ?? project?.projectRef ?? null,
    jwtSecret: config.jwtSecret ?? project?.jwtSecret ?? null,
    jwtKeys: givesKeys ? config.jwtKeys : (project?.jwtKeys ?? []),
    anonKey: project?.anonKey ?? config.anonKey,
    serviceKey: project?.serviceKey ?? config.serviceKey,
    accessToken: config.accessToken ?? project?.accessToken ?? null,
    allowedRoles: values.allowedRoles ?? [config.anonRole, config.authenticatedRole, config.serviceRole],
    authValues: auth.given,
    authTemplates: auth.templates,
    logFormat: values.logFormat ?? (process.stdout.isTTY ? 'pretty' : 'json'),
    serverTiming: values.serverTiming ?? project !== null,
    allowPrivateNetworks: values.allowPrivateNetworks ?? project !== null,
    localProject: project !== null,
    keepsKeys: project !== null && !givesKeys,
    shellCall: project?.shellCall ?? config.shellCall,
    exampleOperations: project?.exampleOperations ?? [],
  };
}

/** Each member of `defaults`, with the value of the option of that name if there is one. */
function takeValues<T extends object>(defaults: T, values: Partial<Values>): T {
  const entries = Object.entries(defaults).map(([name, usual]) => [name, isGiven(name) ? values[name] : usual]);
  return Object.fromEntries(entries) as T;

  /** Null is "not given" only where the option has no default; elsewhere it is a value, such as `off`. */
  function isGiven(name: string): name is Name {
    const value = values[name as Name];
    return value !== undefined && (value !== null || optionOf(name as Name).default !== null);
  }
}
