/** Checks and normalizes email addresses and phone numbers of requests. Nothing is trimmed. */
import { AuthError } from './auth-error.ts';

/** The pattern of HTML's email fields: ASCII, no top-level domain required. */
const emailPattern =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

/** The address in lower case. @throws AuthError `validation_failed` */
export function parseEmail(email: string): string {
  if (email === '') throw new AuthError('validation_failed', 'An email address is required');
  if (Buffer.byteLength(email) > 255) throw new AuthError('validation_failed', 'An email address is too long');
  if (!emailPattern.test(email)) {
    throw new AuthError('validation_failed', 'Unable to validate email address: invalid format');
  }
  return email.toLowerCase();
}

/** The digits, without the plus sign. @throws AuthError `validation_failed` */
export function parsePhone(phone: string): string {
  const digits = phone.replace(/^\+/, '').replaceAll(' ', '');
  if (!/^[1-9][0-9]{1,14}$/.test(digits)) {
    throw new AuthError('validation_failed', 'Invalid phone number format (E.164 required)');
  }
  return digits;
}
