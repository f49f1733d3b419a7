/** `GET /studio/project`: the project as the holder of an access token may see it. */
import { signInMethods } from '../../auth/requests/settings.ts';
import { type Config, hasAdminConnection } from '../../config/config.ts';
import { databaseName } from '../../config/connection-url.ts';
import { findSigningKey, makeApiKey } from '../../config/keys.ts';
import type { ManagementCaller } from '../../management/management-caller.ts';
import { about, flag, listOf, named, objectOf, orNull, text, type ValueOf } from '../../shared/schema.ts';
import { describeSigning, signing } from './signing.ts';
import type { PageParts } from './studio-parts.ts';

/** The project. */
export const studioProject = named(
  'StudioProject',
  objectOf({
    ref: text,
    name: about(text, 'Of the database.'),
    isLocal: about(flag, 'A project of `pgreflect start`.'),
    shellCall: about(text, 'What a command for the project begins with in a shell.'),
    signing: named('StudioSigning', signing),
    scopes: about(listOf(text), 'Of the token.'),
    keys: orNull(objectOf({ anon: text, service: about(text, 'Empty unless the project is local.') })),
    roles: objectOf({ anon: text, authenticated: text, service: text }),
    hasAdminConnection: about(flag, 'Whether SQL can be run, with the scope `database:write`.'),
    isEmailCaptured: flag,
    signInMethods: about(listOf(text), 'Those that are switched on; empty without an auth service.'),
    exampleOperations: listOf(text),
  }),
);

/** The project. */
export type StudioProject = ValueOf<typeof studioProject>;

/** Makes the answer. */
export async function describeProject(
  { scopes }: ManagementCaller,
  ref: string,
  { config, inbox, auth }: PageParts,
): Promise<StudioProject> {
  return {
    ref,
    name: databaseName(config.databaseUrl) ?? 'Database',
    isLocal: config.localProject,
    shellCall: config.shellCall,
    signing: describeSigning({ config, ...(auth && { auth }) }),
    scopes,
    keys: await keysFor(scopes, config),
    roles: { anon: config.anonRole, authenticated: config.authenticatedRole, service: config.serviceRole },
    hasAdminConnection: hasAdminConnection(config),
    isEmailCaptured: inbox?.isCaptured() ?? false,
    signInMethods: auth ? signInMethods(auth.knownConfig()) : [],
    exampleOperations: config.exampleOperations,
  };
}

/**
 * Operators get the anon key, which every client has. The service key outlives their tokens, so only a local project
 * shows it.
 */
async function keysFor(scopes: ManagementCaller['scopes'], config: Config): Promise<StudioProject['keys']> {
  const { anonKey, serviceKey, localProject } = config;
  const seesService = localProject && scopes.includes('auth_config:write');
  if (!seesService && !scopes.includes('project:operate')) return null;
  return { anon: anonKey ?? (await makeAnonKey(config)), service: (seesService && serviceKey) || '' };
}

/** The anon key that `pgreflect keys` makes; empty if no key signs. */
async function makeAnonKey({ jwtSecret, jwtKeys, anonRole }: Config): Promise<string> {
  const signer = findSigningKey(jwtKeys) ?? jwtSecret;
  return signer ? makeApiKey(signer, anonRole) : '';
}
