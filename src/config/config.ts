/**
 * What the gateway is told before it starts: every option of the command line, checked and in its final type.
 *
 * Made by load-config.ts from flags, environment, file and defaults (options.ts holds the rows), or by hand by a program
 * that embeds the gateway (`defaultConfig` fills the rest). Plain frozen data; units are in the names. Secrets are in
 * here: never log a whole `Config`.
 */
import type { AuthValues } from './auth/auth-config.ts';
import type { TemplateSources } from './auth/auth-template-source.ts';

/** A JSON Web Key with the members the gateway looks at; everything else of the key is kept. */
export interface JsonWebKeyMember {
  readonly kty: string;
  readonly kid?: string;
  readonly alg?: string;
  readonly use?: string;
  readonly key_ops?: readonly string[];
  readonly [member: string]: unknown;
}

/** Least severe lines that are logged, in order of severity; `silent` logs nothing. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** Ceilings of one request; the service role passes the first five unless `limitServiceRole`. */
export interface Limits {
  readonly maxDepth: number;
  readonly maxAliases: number;
  readonly maxTokens: number;
  readonly maxCost: number;
  readonly maxRootFields: number;
  readonly maxBodyBytes: number;
  readonly maxResponseBytes: number;
  readonly limitServiceRole: boolean;
  readonly allowBackReferences: boolean;
}

/** A checked configuration. Secrets are in it. */
export interface Config {
  /** Connection string of the login role. */
  readonly databaseUrl: string;
  /** Connection that may install the trigger and owns our own tables; `databaseUrl` where none was given. */
  readonly adminDatabaseUrl: string;
  /** Connection strings for query operations; empty: the primary answers them. */
  readonly readReplicaUrls: readonly string[];
  /** Oldest state of a replica that queries are answered from, in milliseconds. */
  readonly maxReplicaLagMs: number;
  /** Namespaces to expose, in order, as given (`$user` and system namespaces included); null: the login role's `search_path`. */
  readonly schemas: readonly string[] | null;
  /** Namespaces behind the exposed ones in the search path of requests. */
  readonly extraSearchPath: readonly string[];

  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Origin without a trailing slash. */
  readonly externalUrl: string;
  /** 20 characters; null: derived from the database (or kept by a local project). */
  readonly projectRef: string | null;

  /** HS256 secret, at least 32 characters; null where only `jwtKeys`, `jwks` or `jwksUrl` verify. */
  readonly jwtSecret: string | null;
  /** Own keys; the one whose `key_ops` has `sign` signs, all verify. Each has `alg`. */
  readonly jwtKeys: readonly JsonWebKeyMember[];
  /** Further keys for verification only. Each has `alg`. */
  readonly jwks: readonly JsonWebKeyMember[];
  readonly jwksUrl: string | null;
  /** Accepted audiences (one of them must be in the token); null: any. */
  readonly jwtAud: readonly string[] | null;
  readonly jwtIssuer: string | null;
  /** Name of the claim that names the role. */
  readonly jwtRoleClaim: string;
  readonly anonRole: string;
  readonly authenticatedRole: string;
  readonly serviceRole: string;
  /** Roles a token may name; `*` = whatever the login role may set. */
  readonly allowedRoles: readonly string[] | '*';
  /** Given keys (tokens or opaque). Null: every token of that role without `sub` that one of our keys signed is accepted. */
  readonly anonKey: string | null;
  readonly serviceKey: string | null;
  readonly requireApiKey: boolean;
  /** One fixed token of the management API; null: only those made by `pgreflect tokens`. */
  readonly accessToken: string | null;
  /** Start values of the auth configuration: what was given, without defaults; the layer below the stored values. */
  readonly authValues: AuthValues;
  /** Where the bodies of emails are that `authValues` does not hold. */
  readonly authTemplates: TemplateSources;
  /** Ignore what the management API has stored. */
  readonly configOnly: boolean;
  /** False: there is no management API, and what it stored is ignored. */
  readonly managementApiEnabled: boolean;
  readonly managementIgnoreUnknownFields: boolean;
  /** Address of the ranges of leaked passwords, without a slash at the end. */
  readonly leakedPasswordsUrl: string;
  /** Addresses that the management API has stored may be those of private networks. */
  readonly allowPrivateNetworks: boolean;
  /** Links and codes may go to another machine unencrypted; a password never does. */
  readonly allowUnencryptedMail: boolean;

  /** Connections for API requests. */
  readonly poolSize: number;
  /** Connections for reading the catalog. */
  readonly systemPoolSize: number;
  /** Connections for the auth service and the management API. */
  readonly authPoolSize: number;
  /** Connections for the requests of the auth service that wait for the mail server. */
  readonly mailPoolSize: number;
  /** Interval of the auth service's clean-up in milliseconds; 0: none. */
  readonly cleanUpMs: number;
  readonly cleanUpAnonymousUsers: boolean;
  readonly poolWaitMs: number;
  readonly preparedStatements: boolean;
  readonly statementTimeoutMs: number;
  readonly readOnlyQueries: boolean;
  readonly freshness: 'exact' | 'bounded';
  readonly schemaPollMs: number;
  readonly variablePositions: 'compatible' | 'strict';
  readonly limits: Limits;
  /** Requests per minute and caller; null: off. */
  readonly rateLimit: number | null;
  readonly introspection: 'directive' | 'never' | 'always' | 'service';

  /** Addresses and networks of proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  /** Allowed origins; `*` = any. */
  readonly corsOrigins: readonly string[] | '*';
  /** Processes of the command `serve`; a gateway that is embedded is one. */
  readonly workers: number;
  readonly drainTimeoutMs: number;
  /** Ceilings of open connections: of all clients, and of each address (an IPv6 network) that is neither local nor a trusted proxy. */
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  readonly metricsPort: number | null;
  readonly logLevel: LogLevel;
  readonly logFormat: 'pretty' | 'json';
  readonly slowMs: number;
  readonly serverTiming: boolean;

  /** `pgreflect start`: hints for everyone, GraphiQL with the keys filled in. */
  readonly localProject: boolean;
  /** Operations shown in GraphiQL, as documents; the first is opened. */
  readonly exampleOperations: readonly string[];
}

/** Every value that has a default independent of the others, for programs that embed the gateway and for tests. */
export const defaultConfig = {
  readReplicaUrls: [],
  maxReplicaLagMs: 5000,
  schemas: null,
  extraSearchPath: [],
  host: '127.0.0.1',
  port: 54321,
  projectRef: null,
  jwtSecret: null,
  jwtKeys: [],
  jwks: [],
  jwksUrl: null,
  jwtAud: null,
  jwtIssuer: null,
  jwtRoleClaim: 'role',
  anonRole: 'anon',
  authenticatedRole: 'authenticated',
  serviceRole: 'service_role',
  allowedRoles: ['anon', 'authenticated', 'service_role'],
  anonKey: null,
  serviceKey: null,
  requireApiKey: true,
  accessToken: null,
  authValues: {},
  authTemplates: {},
  configOnly: false,
  managementApiEnabled: true,
  managementIgnoreUnknownFields: false,
  leakedPasswordsUrl: 'https://api.pwnedpasswords.com/range',
  allowPrivateNetworks: false,
  allowUnencryptedMail: false,
  poolSize: 10,
  systemPoolSize: 3,
  authPoolSize: 5,
  mailPoolSize: 5,
  cleanUpMs: 600_000,
  cleanUpAnonymousUsers: false,
  poolWaitMs: 1000,
  preparedStatements: true,
  statementTimeoutMs: 8000,
  readOnlyQueries: false,
  freshness: 'exact',
  schemaPollMs: 1000,
  variablePositions: 'compatible',
  limits: {
    maxDepth: 20,
    maxAliases: 500,
    maxTokens: 20_000,
    maxCost: 1_000_000,
    maxRootFields: 50,
    maxBodyBytes: 1024 * 1024,
    maxResponseBytes: 16 * 1024 * 1024,
    limitServiceRole: false,
    allowBackReferences: false,
  },
  rateLimit: null,
  introspection: 'directive',
  trustedProxies: [],
  corsOrigins: '*',
  workers: 1,
  drainTimeoutMs: 10_000,
  maxConnections: 10_000,
  maxConnectionsPerAddress: 1000,
  metricsPort: null,
  logLevel: 'info',
  logFormat: 'json',
  slowMs: 1000,
  serverTiming: false,
  localProject: false,
  exampleOperations: [],
} as const satisfies Omit<Config, 'databaseUrl' | 'adminDatabaseUrl' | 'externalUrl'>;
