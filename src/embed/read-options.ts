/**
 * Options of a program that embeds the gateway: those of the command line, under the same names in camel case, checked
 * as there. Neither the environment nor a configuration file is read.
 */
import { type AuthFieldName, authFieldNames, isAuthFieldName } from '../config/auth/auth-fields.ts';
import type { Config } from '../config/config.ts';
import type { Problem } from '../config/config-error.ts';
import { loadConfig } from '../config/load-config.ts';
import { nearestName } from '../config/nearest-name.ts';
import { type OptionName, type OptionsOf, optionNames } from '../config/options.ts';

/** A value as the command line takes it, or in its own type; lists may be lists, and JSON may be an object. */
export type OptionInput = string | number | boolean | readonly unknown[] | object | null | undefined;

/**
 * The options of docs/options.md: `databaseUrl` stands for `--database-url`. Required are `databaseUrl` and something
 * that verifies tokens: `jwtSecret`, `jwtKeys`, `jwks` or `jwksUrl`.
 */
export type GatewayOptions = {
  readonly [N in Exclude<OptionName, OptionsOf<'Preparation'>>]?: OptionInput;
} & {
  /** Start values of the auth configuration, under the names of docs/options.md. */
  readonly auth?: { readonly [N in AuthFieldName]?: OptionInput };
};

/** Makes the configuration. @throws ConfigError with every problem of the options. */
export function readOptions({ auth = {}, ...options }: GatewayOptions): Config {
  const problems: Problem[] = [];
  const flags = new Map<OptionName, readonly string[]>();
  for (const [name, value] of given(options)) {
    if (isOptionName(name)) flags.set(name, textsOf(name, value));
    else problems.push(unknown('option', name, optionNames));
  }
  const authFlags = new Map<AuthFieldName, readonly string[]>();
  for (const [name, value] of given(auth)) {
    if (isAuthFieldName(name)) authFlags.set(name, [textOf(value)]);
    else problems.push(unknown('field of auth', name, authFieldNames));
  }
  return loadConfig({
    flags,
    authFlags,
    problems,
    environment: {},
    configFile: null,
    withoutFile: true,
    workingDirectory: process.cwd(),
  });
}

function given(options: object): [name: string, value: NonNullable<OptionInput>][] {
  return Object.entries(options).filter(([, value]) => value !== undefined && value !== null);
}

function isOptionName(name: string): name is OptionName {
  return (optionNames as readonly string[]).includes(name);
}

function textsOf(name: OptionName, value: NonNullable<OptionInput>): readonly string[] {
  return name === 'readReplicaUrl' && Array.isArray(value) ? value.map(String) : [textOf(value)];
}

function textOf(value: NonNullable<OptionInput>): string {
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(',');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function unknown(kind: string, name: string, names: readonly string[]): Problem {
  const nearest = nearestName(name, names);
  return { problem: `There is no ${kind} "${name}".`, fix: nearest === null ? null : `Did you mean "${nearest}"?` };
}
