/**
 * Hints for a refused API key or token. They say what the caller seems to have sent instead; only its form and its own
 * unverified claims are read, so they tell nothing that the caller did not send.
 */
import { accessTokenPrefix } from '../../shared/bearer-token.ts';
import { unverifiedClaims } from './verify-token.ts';

/** For a refused `apikey` header. @param now In milliseconds since the epoch. */
export function explainKey(key: string, now: number): string {
  return `Double check your API key. ${describeKey(key, now)}`.trim();
}

function describeKey(key: string, now: number): string {
  if (isUnset(key)) return `The header \`apikey\` ${describeUnset(key)}.`;
  if (/^bearer\s/i.test(key)) return 'Send the key alone as `apikey`, without "Bearer" before it.';
  if (key.startsWith(accessTokenPrefix))
    return 'This is an access token of the management API: send the anon key as `apikey`, on your servers the service key.';
  const claims = unverifiedClaims(key);
  if (claims === null) return '';
  if (typeof claims.exp === 'number' && claims.exp * 1000 <= now) return 'It has expired.';
  return claims.sub === undefined
    ? 'It belongs to another project or an earlier secret, was replaced, or its role is not that of a key.'
    : "This is a user's token: send it as `Authorization: Bearer TOKEN`, and the anon key as `apikey`.";
}

/** For a refused Bearer token that is no token at all; null for others. */
export function explainToken(token: string): string | null {
  return isUnset(token) ? `The token ${describeUnset(token)}: sign in first, or send no header Authorization.` : null;
}

/** What string concatenation makes of a variable without a value. */
function isUnset(text: string): boolean {
  return ['', 'undefined', 'null'].includes(text.trim());
}

function describeUnset(text: string): string {
  const word = text.trim();
  return word === '' ? 'is empty: the variable has no value' : `is the word "${word}": the variable has no value`;
}
