/** Limits text messages to a number, from any user: an attacker can create new users and factors, which have pauses. */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { type AccountLimit, takeOfAccount } from '../steps/account-limit.ts';
import type { AuthContext } from '../steps/auth-context.ts';
import { tooManyTexts } from '../store/rate-limit.ts';

/** Messages from one network in as many pauses. */
const numberBurst = 3;

/** A message that is asked for. */
interface AskedText {
  /** Digits only. */
  readonly phone: string;
  /** Whose number it is; null for nobody who has proved it. */
  readonly owner: AccountLimit['owner'];
  /** The configured pause between messages; 0: no limit. */
  readonly pauseSeconds: number;
}

/** Counts a message to a number, by network and in all. @throws AuthError `over_sms_send_rate_limit` */
export async function assertNumberAllowed(
  { services, network }: AuthContext,
  database: Queryable,
  { phone, owner, pauseSeconds }: AskedText,
): Promise<void> {
  if (pauseSeconds <= 0) return;
  const use = await takeOfAccount({
    limiter: services.limiter,
    database,
    network,
    owner,
    name: `sms_to:${phone}`,
    limit: numberBurst,
    reserve: Math.ceil(numberBurst / 2),
    windowMs: numberBurst * pauseSeconds * 1000,
  });
  if (typeof use === 'number') throw tooManyTexts(use);
}
