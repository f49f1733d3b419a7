/**
 * How often somebody who guesses emailed codes at random opens an account, by the configured numbers.
 *
 * Each email that may be sent has a code, and each code may be guessed at a few times.
 */
import { type AuthConfig, defaultAuthConfig } from './auth-config.ts';
import { parseDurationSeconds } from './go-duration.ts';

type Numbers = Pick<AuthConfig, 'rate_limit_email_sent' | 'mailer_otp_attempts' | 'mailer_otp_length'>;

/** Fewer years than this are worth a warning. */
const enoughYears = 10;
const hoursOfYear = 8766;

/** Years until the first account is opened, on average, if all emails that may be sent are for guessing. */
export function yearsUntilGuessed(numbers: Numbers): number {
  const guessesPerHour = emailsPerHour(numbers.rate_limit_email_sent) * numbers.mailer_otp_attempts;
  return 10 ** numbers.mailer_otp_length / guessesPerHour / hoursOfYear;
}

/** A sentence for the operator; null if guesses are rare enough, or no likelier than with the defaults. */
export function describeGuesses(numbers: Numbers): string | null {
  const years = yearsUntilGuessed(numbers);
  if (years >= Math.min(enoughYears, yearsUntilGuessed(defaultAuthConfig))) return null;
  const days = Math.max(1, Math.round(years * 365));
  return `With rate_limit_email_sent, mailer_otp_attempts and mailer_otp_length as they are, random guesses at emailed codes open an account in ${days} days, on average. Set mailer_otp_length = 8.`;
}

function emailsPerHour(limit: Numbers['rate_limit_email_sent']): number {
  if (typeof limit === 'number') return limit;
  const [count = '', duration = ''] = limit.split('/');
  return (Number(count) * 3600) / parseDurationSeconds(duration);
}
