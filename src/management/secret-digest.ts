/**
 * Secrets are shown as digests (auth.md 7.4): tools see that a secret changed, and nobody sees the secret.
 */
import { createHmac } from 'node:crypto';

/** HMAC-SHA-256 of the secret with the project's ref as key, in hex. */
export function secretDigest(secret: string, ref: string): string {
  return createHmac('sha256', ref).update(secret, 'utf8').digest('hex');
}

/** What is shown of a secret: its digest; nothing where there is none. */
export function presentSecret(secret: unknown, ref: string): unknown {
  return typeof secret === 'string' && secret !== '' ? secretDigest(secret, ref) : secret;
}

/** Whether a client sent back what it was shown, which must not become the secret. */
export function isDigestOf(value: unknown, secret: unknown, ref: string): boolean {
  return typeof secret === 'string' && secret !== '' && value === secretDigest(secret, ref);
}
