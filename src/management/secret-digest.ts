/**
 * Secrets are shown as digests: tools see that a secret changed, and nobody sees the secret. The key is the server's, so who
 * has a digest cannot try guesses on it.
 */
import { createHmac } from 'node:crypto';

/** Digest of the secret of a field; equal secrets of two fields differ. */
export type DigestSecret = (field: string, secret: string) => string;

const prefix = 'hmac-sha256:';

/** @param key Of `deriveKey`. */
export function createSecretDigest(key: Buffer): DigestSecret {
  return (field, secret) => {
    const hmac = createHmac('sha256', key).update(JSON.stringify([field, secret]));
    return `${prefix}${hmac.digest('hex')}`;
  };
}

/** Whether a client sent back what it, or somebody else, was shown: it must never become the secret. */
export function isDigest(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith(prefix);
}
