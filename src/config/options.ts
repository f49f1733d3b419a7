/**
 * Every option once: its flag, the names it has in the environment, its kind, default, meaning and the commands that take it.
 *
 * Flags, `PGREFLECT_*` names, keys of the configuration file, `--help` and the reference table all come from these rows;
 * load-config.ts reads them. The flag of a row is its key in kebab case, the file's key in snake case.
 */
import { parseJsonWebKeys } from './json-web-keys.ts';
import {
  integerBetween,
  oneOf,
  type ParseValue,
  parseBaseUrl,
  parseBoolean,
  parseConnectionString,
  parseHttpUrl,
  parseNames,
  parseNetworks,
  parseOrigins,
  parseProjectRef,
  parseRate,
  parseRole,
  parseRoles,
  parseSecret,
  parseText,
} from './value-kinds.ts';

/** Commands that read options of this table. */
export type CommandName = 'start' | 'serve' | 'init' | 'keys' | 'tokens' | 'schema' | 'check' | 'templates' | 'explain';

/** Heading under which an option is listed. */
/** Headings of `--help`. */
export type OptionGroup = 'Database' | 'Server' | 'Keys and roles' | 'Requests' | 'Limits' | 'Log' | 'Preparation';

/** One option. `T` is the type of its value. */
export interface OptionRow<T> {
  readonly group: OptionGroup;
  /** What stands for the value in `--help`. Null: a switch, which may stand alone and then means `true`. */
  readonly placeholder: string | null;
  readonly parse: ParseValue<T>;
  /** Default as one would write it; null: none, or one that depends (then `defaultNote` says on what). */
  readonly default: string | null;
  readonly defaultNote?: string;
  /** Names other software gives this option, after `PGREFLECT_*`. */
  readonly ecosystem?: readonly string[];
  /** May be read from the file that `PGREFLECT_*_FILE` names; never shown in messages. */
  readonly secret?: true;
  /** May be given several times. */
  readonly repeatable?: true;
  /** The text may be the name of a file that holds the value. */
  readonly fileOrText?: true;
  readonly commands: readonly CommandName[];
  /** One sentence for `--help` and the reference. */
  readonly doc: string;
}

/** Commands that run the gateway; they take the fields of the auth configuration too. */
export const serving = ['start', 'serve'] as const;
const connecting = ['serve', 'init', 'tokens', 'schema', 'check', 'explain'] as const;
const reflecting = ['start', 'serve', 'init', 'schema', 'check', 'explain'] as const;
const port = integerBetween(0, 65_535);
const milliseconds = integerBetween(0, 2_147_483_647);
const count = integerBetween(1, 2_147_483_647);

/** Keeps the type of the parsed value of a row. */
function row<T>(option: OptionRow<T>): OptionRow<T> {
  return option;
}

/** The table. */
export const options = {
  databaseUrl: row({
    group: 'Database', placeholder: 'URL', parse: parseConnectionString, default: null, secret: true,
    ecosystem: ['DATABASE_URL'], commands: connecting,
    doc: 'Connection of the login role (usually authenticator), which may `set role` to the API roles.',
  }),
  adminDatabaseUrl: row({
    group: 'Database', placeholder: 'URL', parse: parseConnectionString, default: null, secret: true,
    defaultNote: 'the same as --database-url', commands: ['serve', 'init', 'tokens'],
    doc: 'Connection that owns the auth tables, creates roles and may install the schema-change trigger.',
  }),
  readReplicaUrl: row({
    group: 'Database', placeholder: 'URL', parse: parseConnectionString, default: null, secret: true, repeatable: true,
    commands: ['serve'],
    doc: 'Query operations go to this streaming replica, mutations to the primary; several in turn: the flag again, a list in the file, blanks between them in the variable. Each names one server.',
  }),
  maxReplicaLagMs: row({
    group: 'Database', placeholder: 'MS', parse: integerBetween(100, 86_400_000), default: '5000', commands: ['serve'],
    doc: 'A replica that is further behind the primary, in milliseconds, is left out until it has caught up.',
  }),
  schemas: row({
    group: 'Database', placeholder: 'NAMES', parse: parseNames, default: null, commands: reflecting,
    defaultNote: "the login role's search_path", doc: 'Schemas to expose, in order, separated by commas.',
  }),
  extraSearchPath: row({
    group: 'Database', placeholder: 'NAMES', parse: parseNames, default: null, commands: [...serving, 'explain'],
    doc: 'Schemas added to the search path of requests, not exposed.',
  }),
  poolSize: row({
    group: 'Database', placeholder: 'N', parse: integerBetween(1, 10_000), default: '10', commands: serving,
    doc: 'Connections for API requests; of each worker, and of each to a replica. From 5 on, slow statements of one role leave one to the other roles.',
  }),
  systemPoolSize: row({
    group: 'Database', placeholder: 'N', parse: integerBetween(1, 1000), default: '3', commands: serving,
    doc: 'Connections for reading the catalog.',
  }),
  authPoolSize: row({
    group: 'Database', placeholder: 'N', parse: integerBetween(1, 1000), default: '5', commands: serving,
    doc: 'Connections for the auth service and the management API.',
  }),
  mailPoolSize: row({
    group: 'Database', placeholder: 'N', parse: integerBetween(1, 1000), default: '5', commands: serving,
    doc: 'Connections for auth requests that wait for mail servers, providers of text messages or webhooks: a slow one holds up no others.',
  }),
  poolWaitMs: row({
    group: 'Database', placeholder: 'MS', parse: milliseconds, default: '1000', commands: serving,
    doc: 'Longest wait for a connection in milliseconds; who would wait longer gets 503, at once where that can be known. 0: no limit.',
  }),
  preparedStatements: row({
    group: 'Database', placeholder: null, parse: parseBoolean, default: 'true', commands: serving,
    doc: 'Prepare statements where the connection is direct; never behind a pooler.',
  }),
  cleanUpMs: row({
    group: 'Database', placeholder: 'MS', parse: milliseconds, default: '600000', commands: serving,
    doc: 'Interval in milliseconds of deleting what is of no use to the auth service any more, such as used tokens; 0: never.',
  }),
  cleanUpAnonymousUsers: row({
    group: 'Database', placeholder: null, parse: parseBoolean, default: 'false', commands: serving,
    doc: 'Delete anonymous users that are older than 30 days, too.',
  }),
  freshness: row({
    group: 'Database', placeholder: 'WORD', parse: oneOf('exact', 'bounded'), default: 'exact', commands: serving,
    doc: 'exact: no answer from a model older than the last committed change; bounded: the old one serves while the new one loads.',
  }),
  schemaPollMs: row({
    group: 'Database', placeholder: 'MS', parse: integerBetween(50, 86_400_000), default: '1000', commands: [...serving, 'schema'],
    doc: 'Interval of the catalog check in milliseconds.',
  }),

  host: row({
    group: 'Server', placeholder: 'ADDRESS', parse: parseText, default: '127.0.0.1', commands: serving,
    doc: 'Address to listen on; 0.0.0.0 for all.',
  }),
  port: row({
    group: 'Server', placeholder: 'PORT', parse: port, default: '54321', ecosystem: ['PORT'], commands: serving,
    doc: 'Port to listen on; 0 takes a free one.',
  }),
  externalUrl: row({
    group: 'Server', placeholder: 'URL', parse: parseBaseUrl, default: null, commands: [...serving, 'templates'],
    defaultNote: 'http://localhost:PORT', doc: 'Origin under which clients reach the gateway.',
  }),
  projectRef: row({
    group: 'Server', placeholder: 'REF', parse: parseProjectRef, default: null, commands: [...serving, 'tokens', 'templates'],
    defaultNote: 'kept by start, else derived from the database', doc: 'Name of the project, 20 characters.',
  }),
  trustedProxies: row({
    group: 'Server', placeholder: 'NETWORKS', parse: parseNetworks, default: null, commands: serving,
    doc: 'Addresses or networks of proxies, separated by commas, whose X-Forwarded-For names the client.',
  }),
  corsOrigins: row({
    group: 'Server', placeholder: 'ORIGINS', parse: parseOrigins, default: '*', commands: serving,
    doc: 'Origins whose pages may call, separated by commas; * for all.',
  }),
  workers: row({
    group: 'Server', placeholder: 'N', parse: integerBetween(1, 256), default: '1', commands: ['serve'],
    doc: 'Processes that share the port; pools, caches and --rate-limit are of each.',
  }),
  drainTimeoutMs: row({
    group: 'Server', placeholder: 'MS', parse: milliseconds, default: '10000', commands: serving,
    doc: 'Time that requests in flight have to finish when the gateway stops, in milliseconds.',
  }),
  maxConnections: row({
    group: 'Server', placeholder: 'N', parse: count, default: '10000', commands: serving,
    doc: 'Open connections of clients, of each worker.',
  }),
  maxConnectionsPerAddress: row({
    group: 'Server', placeholder: 'N', parse: count, default: '1000', commands: serving,
    doc: 'Open connections of one address, of each worker; local addresses and trusted proxies have no limit.',
  }),
  configOnly: row({
    group: 'Server', placeholder: null, parse: parseBoolean, default: 'false', commands: serving,
    doc: 'Ignore the auth configuration that the management API has stored.',
  }),
  managementApiEnabled: row({
    group: 'Server', placeholder: null, parse: parseBoolean, default: 'true', commands: serving,
    doc: 'false: no management API; files and environment alone decide the auth configuration.',
  }),
  managementIgnoreUnknownFields: row({
    group: 'Server', placeholder: null, parse: parseBoolean, default: 'false', commands: serving,
    doc: 'The management API ignores unknown fields instead of refusing them.',
  }),
  leakedPasswordsUrl: row({
    group: 'Server', placeholder: 'URL', parse: parseHttpUrl, default: 'https://api.pwnedpasswords.com/range',
    commands: serving, doc: 'List of leaked passwords that new ones are looked up in, where that is switched on.',
  }),
  allowPrivateNetworks: row({
    group: 'Server', placeholder: null, parse: parseBoolean, default: null, commands: serving,
    defaultNote: 'true for start, false for serve',
    doc: 'Let stored settings name hooks, providers and mail servers in private networks.',
  }),
  allowUnencryptedMail: row({
    group: 'Server', placeholder: null, parse: parseBoolean, default: 'false', commands: serving,
    doc: 'Send emails without TLS where the mail server offers none.',
  }),
  metricsPort: row({
    group: 'Server', placeholder: 'PORT', parse: port, default: null, commands: serving,
    defaultNote: 'none', doc: 'Port of the Prometheus metrics, for everyone who can reach it; elsewhere they need an access token.',
  }),

  jwtSecret: row({
    group: 'Keys and roles', placeholder: 'SECRET', parse: parseSecret, default: null, secret: true,
    ecosystem: ['GOTRUE_JWT_SECRET'], commands: [...serving, 'keys'], defaultNote: 'kept by start',
    doc: 'HS256 secret of tokens and keys, at least 32 characters.',
  }),
  jwtKeys: row({
    group: 'Keys and roles', placeholder: 'JSON|FILE', parse: parseJsonWebKeys, default: null, secret: true,
    fileOrText: true, ecosystem: ['GOTRUE_JWT_KEYS'], commands: [...serving, 'keys'],
    doc: 'Own keys as a JSON array of JWKs; the one with `sign` in key_ops signs, all verify.',
  }),
  jwks: row({
    group: 'Keys and roles', placeholder: 'JSON|FILE', parse: parseJsonWebKeys, default: null, fileOrText: true,
    commands: ['serve'], doc: 'Further verification keys for the GraphQL API, a JSON Web Key Set.',
  }),
  jwksUrl: row({
    group: 'Keys and roles', placeholder: 'URL', parse: parseHttpUrl, default: null, commands: ['serve'],
    doc: 'Address of further verification keys for the GraphQL API, a JWKS.',
  }),
  jwtAud: row({
    group: 'Keys and roles', placeholder: 'NAMES', parse: parseNames, default: null, ecosystem: ['GOTRUE_JWT_AUD'],
    defaultNote: 'any', commands: serving, doc: 'Audiences of which a token must have one, separated by commas.',
  }),
  jwtIssuer: row({
    group: 'Keys and roles', placeholder: 'TEXT', parse: parseText, default: null, ecosystem: ['GOTRUE_JWT_ISSUER'],
    defaultNote: 'any', commands: serving, doc: 'Issuer that a token must have.',
  }),
  jwtRoleClaim: row({
    group: 'Keys and roles', placeholder: 'NAME', parse: parseText, default: 'role', commands: serving,
    doc: 'Claim that names the database role; without it the anon role.',
  }),
  anonRole: row({
    group: 'Keys and roles', placeholder: 'ROLE', parse: parseRole, default: 'anon',
    commands: [...reflecting, 'keys'], doc: 'Role of callers without a token.',
  }),
  authenticatedRole: row({
    group: 'Keys and roles', placeholder: 'ROLE', parse: parseRole, default: 'authenticated', commands: reflecting,
    doc: 'Role of users who signed in.',
  }),
  serviceRole: row({
    group: 'Keys and roles', placeholder: 'ROLE', parse: parseRole, default: 'service_role',
    commands: [...reflecting, 'keys'], doc: 'Role of trusted servers; passes row security.',
  }),
  allowedRoles: row({
    group: 'Keys and roles', placeholder: 'ROLES', parse: parseRoles, default: null, commands: [...serving, 'check'],
    defaultNote: 'those three', doc: "Roles that a token may name; * for all that the login role may set.",
  }),
  anonKey: row({
    group: 'Keys and roles', placeholder: 'KEY', parse: parseText, default: null, secret: true, commands: ['serve'],
    defaultNote: 'made from the secret', doc: 'Accepted apiKey of the anon role: a token or an opaque key.',
  }),
  serviceKey: row({
    group: 'Keys and roles', placeholder: 'KEY', parse: parseText, default: null, secret: true, commands: ['serve'],
    defaultNote: 'made from the secret', doc: 'Accepted apiKey of the service role: a token or an opaque key.',
  }),
  requireApiKey: row({
    group: 'Keys and roles', placeholder: null, parse: parseBoolean, default: 'true', commands: serving,
    doc: 'false: a request without a key has the anon role.',
  }),
  accessToken: row({
    group: 'Keys and roles', placeholder: 'TOKEN', parse: parseText, default: null, secret: true,
    commands: [...serving, 'templates'], doc: 'One fixed token of the management API.',
  }),

  statementTimeoutMs: row({
    group: 'Requests', placeholder: 'MS', parse: milliseconds, default: '8000', commands: [...serving, 'explain'],
    doc: "Upper limit of a whole request in milliseconds; a role's own setting may be lower.",
  }),
  readOnlyQueries: row({
    group: 'Requests', placeholder: null, parse: parseBoolean, default: 'false', commands: serving,
    doc: 'Run query operations in read-only transactions.',
  }),
  variablePositions: row({
    group: 'Requests', placeholder: 'WORD', parse: oneOf('compatible', 'strict'), default: 'compatible',
    commands: [...serving, 'explain'], doc: 'strict applies the GraphQL rule on variables in nullable positions.',
  }),
  introspection: row({
    group: 'Requests', placeholder: 'WORD', parse: oneOf('directive', 'never', 'always', 'service'),
    default: 'directive', commands: serving,
    doc: 'directive: the schema comment decides; service: always for the service role.',
  }),
  rateLimit: row({
    group: 'Requests', placeholder: 'N', parse: parseRate, default: 'off', commands: serving,
    doc: 'Requests per minute and caller, counted by each worker; off for no limit.',
  }),

  maxDepth: row({ group: 'Limits', placeholder: 'N', parse: count, default: '20', commands: serving,
    doc: 'Levels of fields that lead to another table.' }),
  maxAliases: row({ group: 'Limits', placeholder: 'N', parse: count, default: '500', commands: serving,
    doc: 'Aliases in one operation.' }),
  maxTokens: row({ group: 'Limits', placeholder: 'N', parse: count, default: '20000', commands: serving,
    doc: 'Tokens of one document.' }),
  maxCost: row({ group: 'Limits', placeholder: 'N', parse: count, default: '1000000', commands: serving,
    doc: 'Sum over collections of the product of the page sizes on their path.' }),
  maxRootFields: row({ group: 'Limits', placeholder: 'N', parse: count, default: '50', commands: serving,
    doc: 'Root fields of one operation.' }),
  maxBodyBytes: row({ group: 'Limits', placeholder: 'BYTES', parse: count, default: '1048576', commands: serving,
    doc: 'Size of a request body in bytes.' }),
  maxResponseBytes: row({ group: 'Limits', placeholder: 'BYTES', parse: integerBetween(1, 256 * 1024 * 1024), default: '16777216', commands: serving,
    doc: 'Size of an answer in bytes, at most 256 MiB. Above the default, large lists are written while they are read, so that they are never in memory.' }),
  allowBackReferences: row({ group: 'Limits', placeholder: null, parse: parseBoolean, default: 'false', commands: serving,
    doc: 'Let all roles use back references in regex filters, which can take very long.' }),
  limitServiceRole: row({ group: 'Limits', placeholder: null, parse: parseBoolean, default: 'false', commands: serving,
    doc: 'Apply the first five limits to the service role too.' }),

  logLevel: row({
    group: 'Log', placeholder: 'LEVEL', default: 'info', commands: serving,
    parse: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'), doc: 'Least severe lines to log.',
  }),
  logFormat: row({
    group: 'Log', placeholder: 'WORD', parse: oneOf('pretty', 'json'), default: null, commands: serving,
    defaultNote: 'pretty on a terminal, else json', doc: 'Form of the log lines.',
  }),
  slowMs: row({
    group: 'Log', placeholder: 'MS', parse: milliseconds, default: '1000', commands: serving,
    doc: 'Requests that take longer, in milliseconds, are logged as warnings.',
  }),
  serverTiming: row({
    group: 'Log', placeholder: null, parse: parseBoolean, default: null, commands: serving,
    defaultNote: 'true for start, false for serve', doc: 'Send the times of the stages as a Server-Timing header.',
  }),

  loginRole: row({
    group: 'Preparation', placeholder: 'ROLE', parse: parseRole, default: 'authenticator', commands: ['init'],
    doc: 'Login role to create for the gateway.',
  }),
  loginPassword: row({
    group: 'Preparation', placeholder: 'PASSWORD', parse: parseText, default: null, secret: true, commands: ['init'],
    defaultNote: 'a random one, printed once', doc: 'Password of a login role that init creates.',
  }),
} as const; // biome-ignore format: one row per option

/** Name of an option in code. */
export type OptionName = keyof typeof options;

/** The value of an option as its parser makes it. */
export type OptionValue<N extends OptionName> = ReturnType<(typeof options)[N]['parse']>;

/** Names of all options in the order of the table. */
export const optionNames = Object.keys(options) as readonly OptionName[];

/** The row of an option, without the type of its value. */
export function optionRow(name: OptionName): OptionRow<unknown> {
  return options[name] as OptionRow<unknown>;
}

/** `jwtSecret` -> `jwt-secret`. */
export function flagName(name: OptionName): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `jwtSecret` -> `jwt_secret`. */
export function fileKey(name: OptionName): string {
  return flagName(name).replaceAll('-', '_');
}

/** `jwtSecret` -> `PGREFLECT_JWT_SECRET`. */
export function environmentName(name: OptionName): string {
  return `PGREFLECT_${fileKey(name).toUpperCase()}`;
}
