/**
 * Errors as clients get them: two formats, and nothing that is not meant for them.
 */
import { expect, test } from 'vitest';
import { readsNewFormat, toErrorResponse } from '../../../src/auth/answers/error-response.ts';
import { AuthError, OAuthStyleError } from '../../../src/auth/model/auth-error.ts';
import { DatabaseError } from '../../../src/postgres/database-error.ts';

test.each([
  [undefined, false],
  ['2023-12-31', false],
  ['nonsense', false],
  ['2024-13-45', false],
  ['2024-01-01', true],
  ['2030-01-01', true],
])('a client of version %s reads the new format: %s', (version, expected) => {
  expect(readsNewFormat(version)).toBe(expected);
});

test('an old client reads the status as code and the code as error_code', () => {
  expect(toErrorResponse(new AuthError('otp_expired'), undefined, 'r1')).toEqual({
    status: 403,
    headers: { 'x-sb-error-code': 'otp_expired' },
    body: { code: 403, error_code: 'otp_expired', msg: 'Token has expired or is invalid' },
    code: 'otp_expired',
    masked: false,
  });
});

test('a new client reads code and message, and the header that says so', () => {
  expect(toErrorResponse(new AuthError('user_banned'), '2025-05-05', 'r1')).toEqual({
    status: 403,
    headers: { 'x-sb-error-code': 'user_banned', 'x-supabase-api-version': '2024-01-01' },
    body: { code: 'user_banned', message: 'User is banned' },
    code: 'user_banned',
    masked: false,
  });
});

test('a weak password says why, in both formats', () => {
  const error = new AuthError('weak_password', 'Too short.', { weakPassword: ['length'] });
  for (const version of [undefined, '2024-01-01']) {
    expect(toErrorResponse(error, version, 'r1').body).toMatchObject({ weak_password: { reasons: ['length'] } });
  }
});

test('what is not meant for clients is masked, and an old client gets the id to ask about', () => {
  const response = toErrorResponse(new Error('password=hunter2'), undefined, 'r1');
  expect(response).toMatchObject({
    status: 500,
    masked: true,
    body: { code: 500, error_code: 'unexpected_failure', error_id: 'r1' },
  });
  expect(JSON.stringify(response)).not.toContain('hunter2');
});

test('too many requests carry the seconds to wait', () => {
  const error = new AuthError('over_request_rate_limit', null, { retryAfterSeconds: 7 });
  expect(toErrorResponse(error, undefined, 'r1')).toMatchObject({ status: 429, headers: { 'retry-after': '7' } });
});

test('an error in the format of OAuth has no code', () => {
  const response = toErrorResponse(new OAuthStyleError('invalid nonce', 'Nonces mismatch'), '2024-01-01', 'r1');
  expect(response).toMatchObject({
    status: 400,
    body: { error: 'invalid nonce', error_description: 'Nonces mismatch' },
  });
});

test.each([
  ['P0001', 500, 'unexpected_failure', 'No more sign-ups today'],
  ['23514', 500, 'unexpected_failure', 'No more sign-ups today'],
  ['PT418', 418, 'unexpected_failure', 'No more sign-ups today'],
  ['22P05', 400, 'validation_failed', 'The request has text that cannot be stored.'],
  ['40P01', 409, 'conflict', 'Too many concurrent requests on the same row'],
  ['42P01', 500, 'unexpected_failure', 'Unexpected failure, please check server logs for more information'],
])('a database error %s is answered with %i', (sqlstate, status, code, message) => {
  const error = new DatabaseError({ kind: 'statement', primary: 'No more sign-ups today', sqlstate });
  expect(toErrorResponse(error, '2024-01-01', 'r1')).toMatchObject({ status, body: { code, message } });
});

test.each([undefined, '2024-01-01'])(
  'an answer that was lost says that its outcome is unknown, version %s',
  (version) => {
    const lost = new DatabaseError({ kind: 'unavailable', primary: 'lost', maybeCommitted: true });
    expect(toErrorResponse(lost, version, 'id').body).toMatchObject({ outcome: 'unknown' });
    const away = new DatabaseError({ kind: 'unavailable', primary: 'away' });
    expect(toErrorResponse(away, version, 'id').body).not.toHaveProperty('outcome');
  },
);

test('a database that is away is a reason to come back', () => {
  const error = new DatabaseError({ kind: 'unavailable', primary: 'The database cannot be reached.' });
  expect(toErrorResponse(error, undefined, 'r1')).toMatchObject({
    status: 503,
    headers: { 'retry-after': '1' },
    masked: true,
  });
  // Such as a primary that has become a standby, or a full disk at a provider.
  const readOnly = new DatabaseError({ kind: 'statement', primary: 'cannot execute INSERT', sqlstate: '25006' });
  expect(toErrorResponse(readOnly, undefined, 'r1')).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  const slow = new DatabaseError({ kind: 'timeout', primary: 'canceling statement' });
  expect(toErrorResponse(slow, undefined, 'r1').status).toBe(504);
});
