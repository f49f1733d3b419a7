/**
 * The small parts: addresses, metadata, times, PKCE parameters, session limits.
 */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parseEmail, parsePhone } from '../../../src/auth/model/addresses.ts';
import { mergeMetadata } from '../../../src/auth/model/metadata.ts';
import { aalOf, checkSession, type Session, sessionGroup } from '../../../src/auth/model/session.ts';
import { fitsChallenge, parsePkce } from '../../../src/auth/store/flows.ts';
import { emailIdentityData } from '../../../src/auth/store/identities.ts';
import { toRfc3339, toTimestamp } from '../../../src/shared/times.ts';

describe('an email address', () => {
  test.each(['ana@mail.test', 'a@b', "o'neil+tag@sub.mail.test"])('%s is one', (email) =>
    expect(parseEmail(email)).toBe(email),
  );

  test('an email address is stored in lower case', () => expect(parseEmail('Ana@X.test')).toBe('ana@x.test'));

  test.each([
    ['', 'An email address is required'],
    [`${'a'.repeat(250)}@b.test`, 'An email address is too long'],
    ['a b@c.test', 'Unable to validate email address: invalid format'],
    ['ana@mail.test\n', 'Unable to validate email address: invalid format'],
    ['ana@mail.test\r\nBcc: x@y.test', 'Unable to validate email address: invalid format'],
    ['ana@', 'Unable to validate email address: invalid format'],
    ['änä@mail.test', 'Unable to validate email address: invalid format'],
  ])('%j is none', (email, message) => expect(() => parseEmail(email)).toThrow(message));
});

describe('a phone number', () => {
  test('a phone number loses its plus sign and blanks', () => expect(parsePhone('+49 151 000')).toBe('49151000'));

  test.each(['', '0151', '++49', '49-151', '1234567890123456', '1'])('%j is none', (phone) => {
    expect(() => parsePhone(phone)).toThrow('Invalid phone number format (E.164 required)');
  });
});

describe('metadata', () => {
  test('metadata is merged at the top: null deletes, objects are replaced', () => {
    expect(mergeMetadata({ a: 1, b: { x: 1 }, c: null }, { a: null, b: { y: 2 }, d: 3 })).toEqual({
      b: { y: 2 },
      c: null,
      d: 3,
    });
  });

  test('of a sign-up cannot replace what we know', () => {
    expect(
      emailIdentityData('id', 'ana@mail.test', { sub: 'x', email: 'y', email_verified: true, plan: 'gold' }),
    ).toEqual({
      sub: 'id',
      email: 'ana@mail.test',
      email_verified: false,
      phone_verified: false,
      plan: 'gold',
    });
  });
});

test.each([
  [Date.parse('2026-01-01T10:00:00Z'), '2026-01-01T10:00:00Z'],
  [Date.parse('2026-01-01T10:00:00.120Z'), '2026-01-01T10:00:00.12Z'],
  [Date.parse('2026-01-01T10:00:00.123Z') + 0.456, '2026-01-01T10:00:00.123456Z'],
  [Date.parse('2026-01-01T10:00:00.999Z') + 0.9999, '2026-01-01T10:00:01Z'],
])('the time %d is written %s', (time, text) => expect(toRfc3339(time)).toBe(text));

test('infinity stays infinity in the database', () => expect(toTimestamp(Number.POSITIVE_INFINITY)).toBe('infinity'));

describe('the PKCE parameters', () => {
  const challenge = 'c'.repeat(43);

  test('the PKCE parameters are both or neither', () => {
    expect(parsePkce(null, undefined)).toBeNull();
    expect(parsePkce('', '')).toBeNull();
    expect(parsePkce(challenge, 'S256')).toEqual({ challenge, method: 's256' });
    const both = 'PKCE flow requires code_challenge_method and code_challenge';
    expect(() => parsePkce(challenge, null)).toThrow(both);
    expect(() => parsePkce(null, 's256')).toThrow(both);
  });

  test.each([
    ['c'.repeat(42), 's256', 'between 43 and 128'],
    ['c'.repeat(129), 's256', 'between 43 and 128'],
    [`${challenge}+`, 's256', 'alphanumeric'],
    [challenge, 'md5', 'Invalid code_challenge_method'],
  ])('%s with %s are refused', (text, method, message) => expect(() => parsePkce(text, method)).toThrow(message));

  test('the PKCE parameters fit the verifier they were made of', () => {
    const verifier = 'v'.repeat(50);
    const hashed = createHash('sha256').update(verifier).digest('base64url');
    expect(fitsChallenge(verifier, { challenge: hashed, method: 's256' })).toBe(true);
    expect(fitsChallenge(verifier, { challenge: verifier, method: 'plain' })).toBe(true);
    expect(fitsChallenge('w', { challenge: hashed, method: 's256' })).toBe(false);
  });
});

describe('a session', () => {
  const hour = 3_600_000;
  const session: Session = {
    id: 'x', userId: 'y', createdAt: 0, refreshedAt: null, notAfter: null, factorId: null, aal: 'aal1', userAgent: null, ip: null,
    tag: null, amr: [],
  }; // biome-ignore format: a row
  const none = { sessions_timebox: 0, sessions_inactivity_timeout: 0, sessions_allow_low_aal: 0 };
  const at = (now: number, highestAal: 'aal1' | 'aal2' = 'aal1') => ({ now, highestAal, tokenUpdatedAt: null });

  test('without limits never ends by itself', () =>
    expect(checkSession(session, none, at(1e15, 'aal2'))).toBe('valid'));

  test('a session ends by the first limit that it passes', () => {
    const limits = { sessions_timebox: 3, sessions_inactivity_timeout: 2, sessions_allow_low_aal: 1 };
    expect(checkSession(session, limits, at(hour, 'aal2'))).toBe('valid');
    expect(checkSession(session, limits, at(hour + 1, 'aal2'))).toBe('low_aal');
    expect(checkSession(session, limits, at(hour + 1))).toBe('valid');
    expect(checkSession(session, limits, at(2 * hour + 1))).toBe('inactive');
    expect(checkSession(session, limits, at(3 * hour + 1))).toBe('ended');
    expect(checkSession({ ...session, notAfter: 5 }, none, at(6))).toBe('ended');
    expect(checkSession({ ...session, refreshedAt: 2 * hour }, limits, at(3 * hour))).toBe('valid');
  });

  test('a session counts in the group of its tag, else in the first', () => {
    expect(sessionGroup({ ...session, tag: 'phone' }, 'web, phone')).toBe('phone');
    expect(sessionGroup({ ...session, tag: 'car' }, 'web, phone')).toBe('web');
    expect(sessionGroup(session, null)).toBe('');
  });

  test('a session has the level that its methods amount to', () => {
    expect(aalOf([{ method: 'password', at: 0 }])).toBe('aal1');
    expect(
      aalOf([
        { method: 'password', at: 0 },
        { method: 'totp', at: 1 },
      ]),
    ).toBe('aal2');
  });
});
