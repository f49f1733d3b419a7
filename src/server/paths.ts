/** The paths under which the APIs are mounted. */
import type { Config } from '../config/config.ts';

/** The path of the GraphQL API. */
export const graphqlPath = '/graphql/v1';

/** Methods of that path, for `Allow`. */
export const graphqlMethods = 'GET, HEAD, POST, OPTIONS';

/** The path under which the auth service is mounted. */
export const authPath = '/auth/v1';

/** The public address of the service without a slash at the end. */
export function authUrlOf({ externalUrl }: Pick<Config, 'externalUrl'>): string {
  return `${externalUrl}${authPath}`;
}

/** The path under which the management API of a project is mounted. */
export const projectPath = '/v1/projects/:ref';

/** The path of the studio. */
export const studioPath = '/studio';

/** The page of captured emails. */
export const inboxPath = `${studioPath}/inbox`;
