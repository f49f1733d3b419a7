/**
 * How often random guesses at emailed codes open an account, by the configured numbers.
 */
import { expect, test } from 'vitest';
import { defaultAuthConfig } from '../../../src/config/auth/auth-config.ts';
import { describeGuesses, yearsUntilGuessed } from '../../../src/config/auth/guessed-accounts.ts';

const withNumbers = (numbers: object) => ({ ...defaultAuthConfig, ...numbers });

test('the docs say what the numbers mean', () => {
  const days = (numbers: object) => Math.round(yearsUntilGuessed(withNumbers(numbers)) * 365.25);
  expect(days({})).toBe(139);
  expect(days({ rate_limit_email_sent: 500 })).toBe(8);
  expect(days({ rate_limit_email_sent: '500/1h' })).toBe(8);
  expect(yearsUntilGuessed(withNumbers({ mailer_otp_length: 8 }))).toBeCloseTo(38, 0);
  expect(yearsUntilGuessed(withNumbers({ mailer_otp_length: 7, mailer_otp_attempts: 3 }))).toBeCloseTo(12.7, 1);
});

test('numbers that are worse than the defaults are warned of, unless guesses stay rare', () => {
  expect(describeGuesses(defaultAuthConfig)).toBeNull();
  expect(describeGuesses(withNumbers({ rate_limit_email_sent: 500 }))).toContain('in 8 days');
  expect(describeGuesses(withNumbers({ mailer_otp_attempts: 20 }))).toContain('in 69 days');
  expect(describeGuesses(withNumbers({ rate_limit_email_sent: 100, mailer_otp_length: 8 }))).toBeNull();
});
