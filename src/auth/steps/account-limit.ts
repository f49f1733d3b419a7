/**
 * Limits on what anybody does to one account: guesses at its secrets, emails to its address.
 *
 * Strangers must not use them up and shut the owner out. So one client network may use the limit and no more, others have
 * the reserve beyond it. Networks in which the account is signed in have as much for themselves once others have used that.
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import type { Session } from '../model/session.ts';
import type { RateLimiter } from '../store/rate-limit.ts';
import { hasSessionIn } from '../store/sessions.ts';

/** A limit that the owner of an account shares with strangers. */
export interface AccountLimit {
  readonly limiter: RateLimiter;
  /** What is counted, without the network. */
  readonly name: string;
  readonly limit: number;
  /** Further uses, for the networks that have not used the limit. */
  readonly reserve: number;
  readonly windowMs: number;
  readonly network: string;
  /** For the look at sessions. */
  readonly database: Queryable;
  /** Id of the owner; null for none. Asked only when the limit is used up. */
  readonly owner: () => Promise<string | null>;
  /** The sessions that tell the owner's networks; default: all. */
  readonly level?: Session['aal'];
}

/** A use that was allowed. */
export interface AccountUse {
  /** Gives the use back, because it was the owner's. Where little of the limit is used, that makes no difference. */
  giveBack(): Promise<void>;
}

/** @returns The use, or the milliseconds until the next one is allowed. */
export async function takeOfAccount(of: AccountLimit): Promise<AccountUse | number> {
  const { limiter, name, limit, reserve, windowMs, network } = of;
  let isShutOut = false;
  const take = async (from: string): Promise<AccountUse | number> => {
    const window = { kind: 'window', limit: limit + reserve, windowMs } as const;
    const taken = await limiter.takeShare(from, window, { network, limit });
    if ('waitMs' in taken) {
      isShutOut = taken.ofNetwork < limit;
      return taken.waitMs;
    }
    return { giveBack: async () => (taken.used * 3 > limit ? limiter.giveBack(from, network) : undefined) };
  };
  const use = await take(name);
  // A network that has used the limit itself has no more of it.
  if (typeof use !== 'number' || !isShutOut) return use;
  const owner = await of.owner();
  const isOwn = owner !== null && (await hasSessionIn(of.database, owner, network, of.level));
  return isOwn ? take(`own_${name}`) : use;
}
