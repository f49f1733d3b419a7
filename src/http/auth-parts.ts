/**
 * What the routes of the auth service are built from.
 */
import type { AuthServices } from '../auth/flows/flow.ts';
import type { AuthConfig } from '../config/auth-config.ts';
import type { IsTrusted } from './client-address.ts';

/** The auth service behind the routes. */
export interface AuthParts {
  readonly services: AuthServices;
  /** Public address of the service without a slash at the end: `https://db.example.net/auth/v1`. */
  readonly authUrl: string;
  readonly isFromProxy: IsTrusted;
  /** The configuration as this process knows it, without a look at the database. */
  readonly knownConfig: () => AuthConfig;
  /** The configuration that is in force now. @throws DatabaseError */
  readonly currentConfig: () => Promise<AuthConfig>;
  /** Whether the database has the tables of the service. @throws DatabaseError */
  readonly isInstalled: () => Promise<boolean>;
}

/** The path under which the service is mounted. */
export const authPath = '/auth/v1';
