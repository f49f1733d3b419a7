/**
 * Somebody writes into a header that each of their requests comes from another client, to get around the limits of their address.
 */
import { expect, test } from 'vitest';
import { testAuth } from '../support/auth-service.ts';
import { createAuthDatabase } from '../support/postgres.ts';

/** How many of 35 requests were counted out, where each names another client. */
async function refusedOf(trustedProxies: readonly string[]): Promise<number> {
  const database = await createAuthDatabase();
  const values = { security_sb_forwarded_for_enabled: true, rate_limit_otp: 1, smtp_max_frequency: 0 };
  const auth = await testAuth(database, values, { trustedProxies });
  const statuses: number[] = [];
  for (let client = 1; client <= 35; client += 1) {
    const headers = { 'sb-forwarded-for': `192.0.2.${client}` };
    statuses.push((await auth.ask('/recover', { email: 'nobody@x.test' }, { headers })).status);
  }
  return statuses.filter((status) => status === 429).length;
}

test('Sb-Forwarded-For is ignored unless a trusted proxy sends it', async () => {
  expect(await refusedOf([])).toBe(5);
  expect(await refusedOf(['203.0.113.9'])).toBe(5);
  expect(await refusedOf(['127.0.0.1'])).toBe(0);
});
