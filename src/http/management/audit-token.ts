/**
 * A change of an access token -> a row of the audit log, in the same transaction.
 */
import { systemRandom } from '../../auth/random.ts';
import { auditOperator } from '../../auth/store/audit.ts';
import type { AuditToken } from '../../management/token-requests.ts';

/** @param address Of the client. */
export function auditTokenFrom(address: string | null): AuditToken {
  return (session, { clock, config, caller }, action, traits) =>
    auditOperator(
      {
        query: (text, values) => session.query(text, values),
        ...{ clock, config, random: systemRandom, client: { ip: address } },
      },
      action,
      caller,
      traits,
    );
}
