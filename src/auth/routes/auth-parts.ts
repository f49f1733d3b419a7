/** What the routes of the auth service are built from. */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import type { IsTrusted } from '../../server/caller/client-address.ts';
import type { AuthServices } from '../steps/auth-context.ts';
import type { Operator } from '../store/audit.ts';

/** The auth service behind the routes. */
export interface AuthParts {
  readonly services: AuthServices;
  /** Public address of the service without a slash at the end: `https://db.example.net/auth/v1`. */
  readonly authUrl: string;
  readonly isFromProxy: IsTrusted;
  /** The cached configuration, without a database query. */
  readonly knownConfig: () => AuthConfig;
  /** The current configuration. @throws DatabaseError */
  readonly currentConfig: () => Promise<AuthConfig>;
  /** Whether the database has the auth tables. @throws DatabaseError */
  readonly isInstalled: () => Promise<boolean>;
  /** Null without a management API, and so without access tokens. */
  readonly findOperator: FindOperator | null;
}

/**
 * The holder of an access token that may administrate users; null if the text is none. Counts the request.
 *
 * @param from The client's network.
 * @throws AuthError `no_authorization`, `not_admin`, `over_request_rate_limit`
 */
export type FindOperator = (token: string, from: string) => Promise<Operator | null>;
