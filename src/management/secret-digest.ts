/** Shows secrets as digests, which tell that one changed. The key is the server's, so no guess can be tested. */
import { createHmac } from 'node:crypto';

/** Digest of a field's secret; equal secrets of two fields have different digests. */
export type DigestSecret = (field: string, secret: string) => string;

const prefix = 'hmac-sha256:';

/** @param key From `deriveKey`. */
export function createSecretDigest(key: Buffer): DigestSecret {
  return (field, secret) => {
    const hmac = createHmac('sha256', key).update(JSON.stringify([field, secret]));
    return `${prefix}${hmac.digest('hex')}`;
  };
}

/** Whether a value is a digest that a client sent back: never store it as the secret. */
export function isDigest(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith(prefix);
}
