/** Limits the requests of an access token. */
import type { ManagementCaller } from './management-caller.ts';
import { ManagementError } from './management-error.ts';
import type { ManagementParts, RequestKind } from './routes/management-parts.ts';

/** Allowed renderings, reads of the project, and requests about users, per allowed other request of a token. */
const othersEach = 10;

/** Counts a request of a token. @throws ManagementError `rate_limited` */
export async function countRequest(
  { perMinute, takeRequest }: Pick<ManagementParts, 'perMinute' | 'takeRequest'>,
  { tokenId }: ManagementCaller,
  kind: RequestKind,
): Promise<void> {
  if (perMinute === null) return;
  const limit = kind === 'request' ? perMinute : perMinute * othersEach;
  const waitMs = await takeRequest(tokenId, kind, limit);
  if (waitMs === null) return;
  const what = `${limit} ${kind}s a minute for an access token (--management-rate-limit)`;
  throw new ManagementError('rate_limited', `Rate limit exceeded: ${what}`, {
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
  });
}
