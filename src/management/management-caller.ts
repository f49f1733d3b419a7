/** The caller of the management API, and checks of scopes. */
import { ManagementError } from './management-error.ts';
import type { AccessScope } from './tokens/access-tokens.ts';

/** Id of the token from the options, which is not stored. */
export const fixedTokenId = 'fixed';

/** The caller, without the token itself. */
export interface ManagementCaller {
  /** Id of the token; `fixedTokenId` for the one from the options. */
  readonly tokenId: string;
  /** Readable name of the caller, for the history of changes. */
  readonly by: string;
  readonly scopes: readonly AccessScope[];
  /** Null: valid for every project of the database. */
  readonly projectRef: string | null;
}

/** @throws ManagementError `forbidden` */
export function demand(caller: ManagementCaller, scope: AccessScope): void {
  if (!caller.scopes.includes(scope)) throw new ManagementError('forbidden');
}
