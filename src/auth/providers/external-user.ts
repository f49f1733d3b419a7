/**
 * A user as a provider describes them: checked claims, reduced to those we keep, under the names that applications
 * read.
 */

import { isStorable } from '../../shared/json.ts';
import { parseEmail } from '../addresses.ts';
import { AuthError } from '../auth-error.ts';
import { assertModest, type Metadata } from '../metadata.ts';
import type { ProviderTraits } from './known-providers.ts';
import type { Claims } from './plain-provider.ts';

/** A user of a provider. */
export interface ExternalUser {
  /** Name of the provider; for ID tokens of other issuers, the issuer's address. */
  readonly provider: string;
  /** The provider's id of the user. */
  readonly subject: string;
  /** In lower case; null for none. */
  readonly email: string | null;
  /** Whether the provider verified that the address is the user's. */
  readonly isEmailVerified: boolean;
  /** All of the user's addresses that the provider knows, in lower case. */
  readonly emails: readonly string[];
  readonly identityData: Metadata;
}

/** The source of claims: the provider and its issuer. */
export interface ClaimSource {
  readonly provider: string;
  /** If absent, claims follow OpenID Connect. */
  readonly traits?: ProviderTraits;
  /** The configured issuer. Tokens of other issuers may be accepted, too. */
  readonly ownIssuer: string;
}

/** Longest subject that OpenID Connect allows. */
const maxSubjectLength = 255;

/** Longest text of a claim. Longer ones are neither names nor addresses, and every access token would carry them. */
const maxTextLength = 2048;

/**
 * Reads claims.
 *
 * @param more Further addresses of the user.
 * @throws AuthError `validation_failed` if the subject or the address cannot be stored, or the claims are too large
 *   (422).
 */
export function toExternalUser(source: ClaimSource, claims: Claims, more: readonly string[] = []): ExternalUser {
  const subject = readSubject(claims.sub);
  const email = typeof claims.email === 'string' && claims.email !== '' ? parseEmail(claims.email) : null;
  const isEmailVerified = email !== null && isVerified(source, claims);
  const [name, picture, username] = [claims.name, claims.picture, claims.preferred_username].map(readText);
  const identityData = {
    iss: readText(claims.iss), sub: subject, name, full_name: name, email: email ?? undefined,
    email_verified: isEmailVerified, phone_verified: false, picture, avatar_url: picture,
    preferred_username: username, user_name: username, provider_id: subject, custom_claims: customClaims(source, claims),
  }; // biome-ignore format: a list of members
  const known = Object.fromEntries(Object.entries(identityData).filter(([, value]) => value !== undefined));
  assertModest(known, {}, 'What a provider says of a user');
  const emails = [...(email === null ? [] : [email]), ...more.map((address) => address.toLowerCase())];
  return {
    provider: source.provider,
    subject,
    email,
    isEmailVerified,
    emails: [...new Set(emails)],
    identityData: known,
  };
}

function readSubject(value: unknown): string {
  const subject = typeof value === 'number' ? String(value) : value;
  if (typeof subject === 'string' && subject !== '' && subject.length <= maxSubjectLength && isStorable(subject)) {
    return subject;
  }
  throw new AuthError('validation_failed', 'The provider names the user by something that cannot be kept.');
}

function readText(value: unknown): string | undefined {
  const isText = typeof value === 'string' && value !== '' && value.length <= maxTextLength;
  return isText && isStorable(value) ? value : undefined;
}

/** Some providers send the claim as a string. */
function isVerified({ traits, ownIssuer }: ClaimSource, claims: Claims): boolean {
  if (traits?.isEmailVerified !== undefined) return traits.isEmailVerified(claims, ownIssuer);
  return claims.email_verified === true || claims.email_verified === 'true';
}

function customClaims({ traits }: ClaimSource, claims: Claims): Metadata | undefined {
  if (traits?.customClaims === undefined) return undefined;
  const kept = traits.customClaims.flatMap((name) => {
    const value = readText(claims[name]);
    return value === undefined ? [] : [[name, value]];
  });
  return kept.length > 0 || traits.customClaims.length === 0 ? Object.fromEntries(kept) : undefined;
}
