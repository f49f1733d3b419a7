/**
 * Who asks something of the management API, what it takes to be allowed, and how failures that say nothing are told.
 */

import { ManagementError, type ManagementErrorCode } from './management-error.ts';
import type { AccessScope } from './tokens/access-tokens.ts';

/** Id of the token of the configuration, which is stored nowhere. */
export const fixedTokenId = 'fixed';

/** Who asks, apart from the token itself. */
export interface ManagementCaller {
  /** Id of the token; `fixedTokenId` for the one of the configuration. */
  readonly tokenId: string;
  /** For people: who made a change. */
  readonly by: string;
  readonly scopes: readonly AccessScope[];
  /** Null: valid for every project of the database. */
  readonly projectRef: string | null;
}

/** @throws ManagementError `forbidden` */
export function demand(caller: ManagementCaller, scope: AccessScope): void {
  if (!caller.scopes.includes(scope)) throw new ManagementError('forbidden');
}

/** Runs something whose failures are masked as `code`; refusals stay what they are. */
export async function masked<T>(code: ManagementErrorCode, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw error instanceof ManagementError ? error : new ManagementError(code, undefined, { cause: error });
  }
}
