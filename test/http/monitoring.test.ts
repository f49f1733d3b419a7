/** Metrics of a gateway that has done each thing: what they say of it. */
import { expect, test } from 'vitest';
import { type ExposedFamily, parseExposition } from '../support/exposition.ts';
import { countedGateway } from './counted-gateway.ts';

/** The values of a series, by its labels. */
function valuesOf(families: ReadonlyMap<string, ExposedFamily>, name: string): Record<string, number> {
  const family = families.get(name) ?? families.get(name.replace(/_count$/, ''));
  const samples = family?.samples.filter((sample) => sample.name === name) ?? [];
  return Object.fromEntries(samples.map(({ labels, value }) => [Object.values(labels).join(' '), value]));
}

test('metrics count attempts by method and result, calls to other services, emails and how requests end', async () => {
  const families = parseExposition(await (await countedGateway())());
  const of = (name: string) => valuesOf(families, `pgreflect_${name}`);
  expect(of('auth_attempts_total')).toEqual({
    'sign_in password success': 1,
    'sign_in password invalid_credentials': 1,
    'refresh refresh_token success': 1,
    'sign_up email success': 2,
    'sign_up email unexpected_failure': 1,
    'verify signup otp_expired': 1,
    'sign_in provider success': 1,
  });
  expect(of('external_call_duration_seconds_count')).toEqual({
    'hook before_user_created success': 3,
    'hook before_user_created failed': 1,
    'provider keycloak success': 1,
    'email smtp success': 1,
    'email smtp refused': 1,
  });
  expect(of('emails_total')).toEqual({ 'confirmation queued': 2, 'confirmation sent': 1, 'confirmation failed': 1 });
  expect(of('http_request_duration_seconds_count')).toMatchObject({
    '/graphql/v1 success': 2,
    '/graphql/v1 client_error': 1,
    '/graphql/v1 server_error': 1,
    '/auth/v1/signup server_error': 1,
    '/auth/v1/token client_error': 1,
  });
  expect(of('live_closed_total')).toEqual({ client: 1, stopping: 0 });
  expect(of('events_total')).toMatchObject({ masked_error: 2, hook_failed: 1 });
  expect(of('replica_used')).toEqual({ 1: 0 });
});
