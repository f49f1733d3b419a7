/**
 * The gateway's configuration: every option of the command line, checked and in its final type.
 *
 * Made by load-config.ts from flags, environment, file and defaults, or by a program that embeds the gateway
 * (`defaultConfig` fills the rest). Names, types, defaults and meanings are in options.ts. Plain frozen data; names
 * contain units. It contains secrets: never log a whole `Config`.
 */
import type { AuthValues } from './auth/auth-config.ts';
import type { TemplateSources } from './auth/auth-template-source.ts';
import { type OptionName, type OptionsOf, type OptionValue, optionNames, optionOf, type options } from './options.ts';

/** Limits of one request; the service role passes the first five unless `limitServiceRole`. */
export type Limits = { readonly [N in OptionsOf<'Limits'>]: OptionValue<N> };

/** Options that are used as given; null if not given and without a default. */
type Plain = Exclude<OptionName, OptionsOf<'Limits' | 'Preparation'> | keyof Composed | 'readReplicaUrl'>;

/** Values derived from other options, several sources, or the command. */
interface Composed {
  /** Connection string of the login role. */
  readonly databaseUrl: string;
  /** Connection that may install the trigger and owns our tables; default `databaseUrl`. */
  readonly adminDatabaseUrl: string;
  /** Connection strings for query operations; empty: use the primary. */
  readonly readReplicaUrls: readonly string[];
  /** Null: `extensions`, where that schema is trusted. */
  readonly extraSearchPath: readonly string[] | null;
  /** Origin without a trailing slash. */
  readonly externalUrl: string;
  /** Own keys; the one whose `key_ops` has `sign` signs, all verify. Each has `alg`. */
  readonly jwtKeys: OptionValue<'jwtKeys'>;
  /** Further keys for verification only. Each has `alg`. */
  readonly jwks: OptionValue<'jwks'>;
  /** Roles that tokens may name; `*` = any that the login role may set. */
  readonly allowedRoles: OptionValue<'allowedRoles'>;
  readonly trustedProxies: readonly string[];
  readonly allowPrivateNetworks: boolean;
  readonly logFormat: OptionValue<'logFormat'>;
  readonly serverTiming: boolean;
  readonly limits: Limits;
  /** Start values of the auth configuration, without defaults; the layer below the stored values. */
  readonly authValues: AuthValues;
  /** Sources of email bodies that are not in `authValues`. */
  readonly authTemplates: TemplateSources;
  /** `pgreflect start`: hints for everyone, GraphiQL with the keys filled in, private addresses that are a developer's. */
  readonly localProject: boolean;
  /** Whether the signing keys are those that `pgreflect start` keeps, not given ones. */
  readonly keepsKeys: boolean;
  /** What a command for this project begins with in a shell, to be pasted: `cd /home/ada/shop && npx pgreflect`. */
  readonly shellCall: string;
  /** Operations shown in GraphiQL, as documents; the first is opened. */
  readonly exampleOperations: readonly string[];
}

/** A checked configuration. Secrets are in it. */
export type Config = Composed & {
  readonly [N in Plain]: OptionValue<N> | ((typeof options)[N]['default'] extends null ? null : never);
};

/** All independent defaults, for programs that embed the gateway and for tests. */
export const defaultConfig = {
  ...defaultsOf(['Database', 'Server', 'Keys and roles', 'Requests', 'Log']),
  readReplicaUrls: [],
  extraSearchPath: null,
  jwtKeys: [],
  jwks: [],
  trustedProxies: [],
  exampleOperations: [],
  allowedRoles: ['anon', 'authenticated', 'service_role'],
  allowPrivateNetworks: false,
  logFormat: 'json',
  serverTiming: false,
  localProject: false,
  keepsKeys: false,
  shellCall: 'pgreflect',
  authValues: {},
  authTemplates: {},
  limits: defaultsOf(['Limits']),
} as unknown as Omit<Config, 'databaseUrl' | 'adminDatabaseUrl' | 'externalUrl'>;

function defaultsOf(groups: readonly string[]): object {
  const all = optionNames.map((name) => [name, optionOf(name)] as const);
  const members = all.filter(([, { group, repeatable }]) => groups.includes(group) && !repeatable);
  const needed = members.filter(([name]) => !['databaseUrl', 'adminDatabaseUrl', 'externalUrl'].includes(name));
  return Object.fromEntries(
    needed.map(([name, option]) => [name, option.default === null ? null : option.kind.parseText(option.default)]),
  );
}

/** Whether the admin connection is another one than that of requests. */
export function hasAdminConnection({ adminDatabaseUrl, databaseUrl }: Config): boolean {
  return adminDatabaseUrl !== databaseUrl;
}
