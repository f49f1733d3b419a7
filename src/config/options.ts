/**
 * Every option once: flag, environment names, kind, default, meaning and commands.
 *
 * The source for flags, `PGREFLECT_*` names, keys of the configuration file, `--help` and the reference table;
 * load-config.ts reads them. An option's flag is its key in kebab case, the file's key in snake case.
 */
import { kebabCase, snakeCase } from 'change-case';
import { asText, flag, integerBetween, oneOf, type Schema, type ValueOf } from '../shared/schema.ts';
import { parseExtensions } from './extensions.ts';
import { parseJsonWebKeys } from './json-web-keys.ts';
import {
  asList,
  baseUrl,
  connectionString,
  filledText,
  httpUrl,
  names,
  namesAllOrNone,
  namesOrAll,
  networks,
  origins,
  projectRef,
  rate,
  role,
  roleClaimPath,
  roles,
  signingSecret,
} from './value-kinds.ts';

/** Commands that read options of this table. */
export type CommandName =
  | 'start'
  | 'status'
  | 'serve'
  | 'init'
  | 'keys'
  | 'tokens'
  | 'config'
  | 'users'
  | 'schema'
  | 'check'
  | 'templates'
  | 'explain';

/** Headings of `--help`. */
type OptionGroup = 'Database' | 'Server' | 'Keys and roles' | 'Requests' | 'Limits' | 'Log' | 'Preparation';

/** One option. */
export interface OptionDefinition {
  readonly group: OptionGroup;
  /** Placeholder of the value in `--help`. Null: a switch, which alone means `true`. */
  readonly placeholder: string | null;
  readonly kind: Schema<unknown>;
  /** Default as users write it; null: none, or a conditional one (described in `defaultNote`). */
  readonly default: string | null;
  readonly defaultNote?: string;
  /** Other software's names for this option, after `PGREFLECT_*`. */
  readonly ecosystem?: readonly string[];
  /** May be read from the file of `PGREFLECT_*_FILE`; never quoted in messages. */
  readonly secret?: true;
  /** May be given several times. */
  readonly repeatable?: true;
  /** A running gateway takes another value over, without a restart. */
  readonly inPlace?: boolean;
  /** The text may be the name of a file with the value. */
  readonly fileOrText?: true;
  readonly commands: readonly CommandName[];
  /** One sentence for `--help` and the reference. */
  readonly doc: string;
  /** The sentence for commands that use it otherwise. */
  readonly docs?: Readonly<Partial<Record<CommandName, string>>>;
}

/** Commands that run the gateway; they also take the auth configuration fields. */
export const serving = ['start', 'serve'] as const;
const connecting = ['serve', 'init', 'tokens', 'config', 'users', 'schema', 'check', 'explain'] as const;
const reflecting = ['start', 'serve', 'init', 'schema', 'check', 'explain'] as const;
const port = integerBetween(0, 65_535);
const milliseconds = integerBetween(0, 2_147_483_647);
const count = integerBetween(1, 2_147_483_647);

/** Makes the options of a group. @param common What all of them have. */
function inGroup<G extends OptionGroup>(group: G, common: Pick<OptionDefinition, 'inPlace'> = {}) {
  return <T, const D extends string | null>(
    placeholder: string | null,
    kind: Schema<T>,
    usual: D,
    rest: Omit<OptionDefinition, 'group' | 'placeholder' | 'kind' | 'default'>,
  ) => ({ group, placeholder, kind, default: usual, ...common, ...rest });
}

const [database, server, keys, requests] = [
  inGroup('Database'), inGroup('Server'), inGroup('Keys and roles'), inGroup('Requests'),
] as const; // biome-ignore format: a list
const limits = inGroup('Limits', { inPlace: true });
const [log, preparation] = [inGroup('Log'), inGroup('Preparation')] as const;

/** The table. */
export const options = {
  databaseUrl: database('URL', connectionString, null, { secret: true, ecosystem: ['DATABASE_URL'], inPlace: true, commands: connecting,
    doc: 'Connection string of the login role, usually authenticator. It must be able to `set role` to the API roles.' }),
  adminDatabaseUrl: database('URL', connectionString, null,
    { secret: true, defaultNote: 'the same as --database-url', inPlace: true, commands: ['serve', 'init', 'tokens', 'config', 'users'],
    doc: 'Connection string of the auth role, auth_admin by default.',
    docs: { init: 'Connection string of a role that can create roles.' } }),
  adoptRole: database('NAMES', names, null, { commands: ['serve', 'init', 'tokens', 'config', 'users'],
    defaultNote: 'superusers, the login and its members',
    doc: 'Further roles to trust as owners of the auth tables.',
    docs: { init: 'Further roles to trust as owners of the auth tables; also roles that exist and that others may act as.' } }),
  readReplicaUrl: database('URL', connectionString, null, { secret: true, repeatable: true, inPlace: true, commands: ['serve'],
    doc: 'Streaming replica for query operations; mutations go to the primary. Repeat for several replicas (file: a list; variable: separated by spaces). Each URL names one server.' }),
  maxReplicaLagMs: database('MS', integerBetween(100, 86_400_000), '5000', { commands: ['serve'],
    doc: 'Maximum replication lag in ms. Replicas further behind get no queries until they catch up.' }),
  databasePort: database('PORT', integerBetween(1, 65_535), null,
    { commands: ['start'], defaultNote: '54322 or a free one, then kept',
    doc: 'Port of the embedded PostgreSQL.' }),
  schemas: database('NAMES', names, null, { inPlace: true, commands: reflecting, defaultNote: "the login role's search_path",
    doc: 'Schemas to expose, in order, separated by commas.' }),
  extraSearchPath: database('NAMES', names, null, { commands: [...serving, 'check', 'explain'],
    defaultNote: '`extensions`, if only operators create objects there',
    doc: 'Schemas added to the search path but not exposed, separated by commas.' }),
  poolSize: database('N', integerBetween(1, 10_000), '10', { commands: serving,
    doc: 'Database connections for API requests, per worker and per replica. From 5 on, a role leaves one for others, and a caller two.' }),
  systemPoolSize: database('N', integerBetween(1, 1000), '3', { commands: serving,
    doc: 'Database connections for reading the catalog.' }),
  authPoolSize: database('N', integerBetween(2, 1000), '10', { commands: serving,
    doc: 'Database connections for the auth service and the management API. At most half of them wait for mail servers, SMS providers and webhooks.' }),
  poolWaitMs: database('MS', milliseconds, '1000', { commands: serving,
    doc: 'Maximum wait for a database connection in ms; 0: no limit. Requests that wait longer get 503, and at once those of a role of which 100 per connection wait.' }),
  preparedStatements: database(null, flag, 'true', { commands: serving,
    doc: 'Use prepared statements on direct connections. Never used behind a pooler.' }),
  cleanUpMs: database('MS', milliseconds, '600000', { commands: serving,
    doc: 'Interval for deleting expired auth data, in ms; 0: never.' }),
  cleanUpAnonymousUsers: database(null, flag, 'false', { commands: serving,
    doc: 'Delete anonymous users older than 30 days.' }),
  freshness: database('WORD', oneOf('exact', 'bounded'), 'exact', { commands: serving,
    doc: 'exact: never answer with a schema older than the last committed change. bounded: serve the old schema until the new one is built, at most 10 s after the catalog was read.' }),
  schemaPollMs: database('MS', integerBetween(50, 86_400_000), '1000', { commands: [...serving, 'schema'],
    doc: 'Interval for checking the catalog for changes, in ms.' }),

  host: server('ADDRESS', filledText, '127.0.0.1', { commands: serving, doc: 'Address to listen on; 0.0.0.0 for all.' }),
  port: server('PORT', port, '54321', { ecosystem: ['PORT'], commands: serving,
    doc: 'Port to listen on; 0 picks a free one.' }),
  externalUrl: server('URL', baseUrl, null,
    { commands: [...serving, 'templates', 'status'], defaultNote: 'http://localhost:PORT',
    doc: 'Public origin of the gateway, as clients reach it.' }),
  projectRef: server('REF', projectRef, null,
    { commands: [...serving, 'tokens', 'config', 'templates'], defaultNote: 'kept by start, else derived from the database',
    doc: 'Project ref, 20 lowercase letters or digits.' }),
  trustedProxies: server('NETWORKS', networks, null, { inPlace: true, commands: serving,
    doc: 'Proxy addresses or networks, separated by commas, whose X-Forwarded-For header is trusted.' }),
  corsOrigins: server('ORIGINS', origins, '*', { inPlace: true, commands: serving,
    doc: 'Origins allowed by CORS, separated by commas; * for all.' }),
  corsHeaders: server('NAMES', namesOrAll, '*', { inPlace: true, commands: serving,
    doc: 'Request headers allowed by CORS, separated by commas; * for any.' }),
  workers: server('N', integerBetween(1, 256), '1', { commands: ['serve'],
    doc: 'Worker processes that share the port. Pools, caches and --rate-limit count per worker.' }),
  drainTimeoutMs: server('MS', milliseconds, '10000', { inPlace: true, commands: serving,
    doc: 'Time for open requests to finish when the gateway stops, in ms.' }),
  maxConnections: server('N', count, '10000', { inPlace: true, commands: serving, doc: 'Maximum open client connections per worker.' }),
  maxConnectionsPerAddress: server('N', count, '1000', { inPlace: true, commands: serving,
    doc: 'Maximum open connections per client address and worker. Local addresses and trusted proxies have no limit.' }),
  maxBufferedBytes: server('BYTES', count, null, { commands: serving, defaultNote: 'a quarter of the memory',
    doc: 'Maximum memory for requests and responses of all workers, in bytes. Beyond it, the largest lose their connections.' }),
  configOnly: server(null, flag, 'false', { commands: serving,
    doc: 'Ignore auth configuration stored through the management API.' }),
  managementApiEnabled: server(null, flag, 'true', { commands: serving,
    doc: 'Enable the management API. false: only files and environment set the auth configuration.' }),
  managementRateLimit: server('N', rate, '60', { commands: serving,
    doc: 'Management requests per minute and access token; with unknown tokens, per address. off for no limit.' }),
  managementIgnoreUnknownFields: server(null, flag, 'false', { commands: serving,
    doc: 'Ignore unknown fields in the management API instead of refusing them.' }),
  leakedPasswordsUrl: server('URL', httpUrl, 'https://api.pwnedpasswords.com/range', { commands: serving,
    doc: 'Range API for leaked passwords, used when password_hibp_enabled is on.' }),
  allowPrivateNetworks: server(null, flag, null, { commands: serving, defaultNote: 'true for start, false for serve',
    doc: 'Let stored settings use hooks, providers and mail servers in private networks.' }),
  allowUnencryptedMail: server(null, flag, 'false', { commands: serving,
    doc: 'Send emails without TLS if the mail server does not offer it.' }),
  metricsPort: server('PORT', port, null, { commands: serving, defaultNote: 'none',
    doc: 'Port for Prometheus metrics without authentication. On the main port, metrics need an access token.' }),

  jwtSecret: keys('SECRET', signingSecret, null,
    { secret: true, ecosystem: ['GOTRUE_JWT_SECRET'], inPlace: true, commands: [...serving, 'keys', 'status'], defaultNote: 'kept by start',
    doc: 'HS256 secret for tokens and keys, at least 32 characters.' }),
  jwtKeys: keys('JSON|FILE', asText(parseJsonWebKeys), null,
    { secret: true, fileOrText: true, ecosystem: ['GOTRUE_JWT_KEYS'], inPlace: true, commands: [...serving, 'keys'],
    doc: 'Signing keys, a JSON array of JWKs. The key with `sign` in key_ops signs; all verify.' }),
  jwks: keys('JSON|FILE', asText(parseJsonWebKeys), null, { fileOrText: true, inPlace: true, commands: ['serve'],
    doc: 'Additional verification keys for the GraphQL API, a JSON Web Key Set.' }),
  jwksUrl: keys('URL', httpUrl, null, { inPlace: true, commands: ['serve'],
    doc: 'URL of a JWKS with additional verification keys for the GraphQL API.' }),
  jwtAud: keys('NAMES', names, null, { ecosystem: ['GOTRUE_JWT_AUD'], defaultNote: 'any', inPlace: true, commands: [...serving, 'users'],
    doc: 'Accepted token audiences, separated by commas. A token needs one of them.' }),
  jwtIssuer: keys('TEXT', filledText, null, { ecosystem: ['GOTRUE_JWT_ISSUER'], defaultNote: 'any', inPlace: true, commands: serving,
    doc: 'Required token issuer.' }),
  jwtRoleClaim: keys('NAME', roleClaimPath, 'role', { commands: serving,
    doc: 'Claim with the database role, or its path such as app_metadata.role. Tokens without it use the anon role.' }),
  anonRole: keys('ROLE', role, 'anon', { commands: [...reflecting, 'keys', 'status'],
    doc: 'Role of callers without a token.' }),
  authenticatedRole: keys('ROLE', role, 'authenticated', { commands: [...reflecting, 'users'], doc: 'Role of signed-in users.' }),
  serviceRole: keys('ROLE', role, 'service_role', { commands: [...reflecting, 'keys', 'status'],
    doc: 'Role of trusted servers. It bypasses row security.' }),
  allowedRoles: keys('ROLES', roles, null, { commands: [...serving, 'check'], defaultNote: 'those three',
    doc: 'Roles allowed in tokens; * for all the login role can set.' }),
  anonKey: keys('KEY', filledText, null, { secret: true, inPlace: true, commands: ['serve'], defaultNote: 'made from the secret',
    doc: 'apiKey of the anon role, a JWT or an opaque key.' }),
  serviceKey: keys('KEY', filledText, null, { secret: true, inPlace: true, commands: ['serve'], defaultNote: 'made from the secret',
    doc: 'apiKey of the service role, a JWT or an opaque key.' }),
  requireApiKey: keys(null, flag, 'true', { inPlace: true, commands: serving,
    doc: 'Require an apiKey. false: requests without a key use the anon role.' }),
  accessToken: keys('TOKEN', filledText, null, { secret: true, inPlace: true, commands: [...serving, 'templates', 'status'],
    doc: 'Fixed access token for the management API.' }),

  statementTimeoutMs: requests('MS', milliseconds, '8000', { commands: [...serving, 'explain'],
    doc: 'Maximum duration of a request in ms. A lower setting of the role wins.' }),
  readOnlyQueries: requests(null, flag, 'false', { inPlace: true, commands: serving,
    doc: 'Run query operations in read-only transactions.' }),
  variablePositions: requests('WORD', oneOf('compatible', 'strict'), 'compatible', { commands: [...serving, 'check', 'explain'],
    doc: 'strict: apply the GraphQL rule for variables in nullable positions.' }),
  absentFilterVariables: requests('WORD', oneOf('ignore', 'refuse'), 'ignore', { inPlace: true, commands: serving,
    doc: 'refuse: an absent variable in a filter of writes is an error.' }),
  introspection: requests('WORD', oneOf('directive', 'never', 'always', 'service'), 'directive', { commands: serving,
    doc: 'directive: the schema comment decides. service: on for the service role, else the schema comment decides.' }),
  extensions: requests('NAMES', asList(parseExtensions), 'all', { commands: [...serving, 'schema', 'check', 'explain'],
    doc: 'Features beyond pg_graphql: all, none, or some of reads, writes, live. The schema comment wins.' }),
  trustedDocuments: requests('PATH', filledText, null, { commands: serving,
    doc: 'Folder of .graphql files, or manifest of Relay, graphql-codegen or Apollo. Requests name these documents by their hash.' }),
  trustedOnly: requests(null, flag, 'false', { commands: serving,
    doc: 'Refuse all documents but the trusted ones, except from the service role.' }),
  getMaxAge: requests('SECONDS', integerBetween(0, 31_536_000), '0', { inPlace: true, commands: serving,
    doc: 'Time for which caches may keep answers to GET, in seconds; 0: not at all. Only those of the anon role without a token.' }),
  liveIntervalMs: requests('MS', milliseconds, '2000', { commands: serving,
    doc: 'Time between two runs of a live query, in ms.' }),
  liveMinIntervalMs: requests('MS', milliseconds, '100', { commands: serving,
    doc: 'Time between two runs in exact mode (`init --live`), in ms.' }),
  livePollMs: requests('MS', integerBetween(10, 60_000), '50', { commands: serving,
    doc: 'Time between two looks for changes, in ms. Only while somebody has subscribed.' }),
  liveClaims: requests('NAMES', namesOrAll, '*', { commands: [...serving, 'check'],
    doc: 'Claims that live queries pass to the database; * for all. Callers with equal ones share runs.' }),
  liveHeaders: requests('NAMES', namesAllOrNone, '*', { commands: [...serving, 'check'],
    doc: 'Request headers that live queries pass to the database; * for all, none for none. The same.' }),
  rateLimit: requests('N', rate, 'off', { inPlace: true, commands: serving,
    doc: 'Requests per minute, caller and worker; off for no limit.' }),

  maxDepth: limits('N', count, '20', { commands: serving, doc: 'Maximum levels of related tables.' }),
  maxAliases: limits('N', count, '500', { commands: serving, doc: 'Maximum aliases per operation.' }),
  maxTokens: limits('N', count, '20000', { commands: serving, doc: 'Maximum tokens in the document.' }),
  maxCost: limits('N', count, '1000000', { commands: serving,
    doc: 'Maximum cost: page sizes multiplied along each path, summed over collections.' }),
  maxRootFields: limits('N', count, '50', { commands: serving, doc: 'Maximum root fields per operation.' }),
  maxBodyBytes: limits('BYTES', count, '1048576', { inPlace: false, commands: serving, doc: 'Maximum request body in bytes.' }),
  maxResponseBytes: limits('BYTES', integerBetween(1, 64 * 1024 * 1024), '16777216', { inPlace: false, commands: serving,
    doc: 'Maximum response in bytes, at most 64 MiB.' }),
  maxBatch: limits('N', integerBetween(1, 1000), '10', { commands: serving,
    doc: 'Maximum requests in a batch; 1: no batches. Cost, bytes and time of all together have the limits of one.' }),
  maxLive: limits('N', count, '10000', { commands: serving, doc: 'Maximum subscriptions per worker.' }),
  maxLivePerCaller: limits('N', count, '100', { commands: serving,
    doc: 'Maximum subscriptions per user, or address without a user, and worker.' }),
  allowBackReferences: limits(null, flag, 'false', { commands: serving,
    doc: 'Allow back references in regex filters for all roles. They can be very slow.' }),
  limitServiceRole: limits(null, flag, 'false', { commands: serving,
    doc: 'Apply the first five limits to the service role too.' }),

  logLevel: log('LEVEL', oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'), 'info', { inPlace: true, commands: serving,
    doc: 'Minimum level to log.' }),
  logFormat: log('WORD', oneOf('pretty', 'json'), null, { commands: serving, defaultNote: 'pretty on a terminal, else json',
    doc: 'Log format.' }),
  logAddresses: log('WORD', oneOf('full', 'hashed', 'none'), 'full', { commands: serving,
    doc: 'Client addresses in the log. hashed: equal ones look equal, under a key that the signing secret decides.' }),
  traceInDatabase: log('WORD', oneOf('recorded', 'always', 'never'), 'recorded', { commands: serving,
    doc: 'Requests whose trace id PostgreSQL has as application_name. recorded: those whose spans are exported.' }),
  slowMs: log('MS', milliseconds, '1000', { inPlace: true, commands: serving,
    doc: 'Duration from which a request is logged as slow, in ms.' }),
  serverTiming: log(null, flag, null, { inPlace: true, commands: serving, defaultNote: 'true for start, false for serve',
    doc: 'Send stage durations in a Server-Timing header.' }),

  loginRole: preparation('ROLE', role, 'authenticator', { commands: ['init', 'check'],
    doc: 'Login role of the gateway, which init creates.' }),
  loginPassword: preparation('PASSWORD', filledText, null,
    { secret: true, commands: ['init'], defaultNote: 'a random one, printed once',
    doc: 'Password for the login role that init creates.' }),
  authRole: preparation('ROLE', role, 'auth_admin', { commands: ['init'],
    doc: 'Login role to create for the auth service, with --auth.' }),
  authRolePassword: preparation('PASSWORD', filledText, null,
    { secret: true, commands: ['init'], defaultNote: 'a random one, printed once',
    doc: 'Password for the role that init creates for the auth service.' }),
} satisfies Record<string, OptionDefinition>; // biome-ignore format: one option a line

/** Name of an option in code. */
export type OptionName = keyof typeof options;

/** The value type of an option. */
export type OptionValue<N extends OptionName> = ValueOf<(typeof options)[N]['kind']>;

/** Names of the options of a group. */
export type OptionsOf<G extends OptionGroup> = {
  [N in OptionName]: (typeof options)[N]['group'] extends G ? N : never;
}[OptionName];

/** Names of all options in the order of the table. */
export const optionNames = Object.keys(options) as readonly OptionName[];

/** An option, without the type of its value. */
export function optionOf(name: OptionName): OptionDefinition {
  return options[name];
}

/** `jwtSecret` -> `jwt-secret`. */
export function flagName(name: OptionName): string {
  return kebabCase(name);
}

/** `jwtSecret` -> `jwt_secret`. */
export function fileKey(name: OptionName): string {
  return snakeCase(name);
}

/** `jwtSecret` -> `PGREFLECT_JWT_SECRET`. */
export function environmentName(name: OptionName): string {
  return `PGREFLECT_${fileKey(name).toUpperCase()}`;
}
