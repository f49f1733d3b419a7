/** A user as a provider describes them: the checked claims that we keep, under the names that applications read. */
import { isStorable } from '../../shared/json.ts';
import { parseEmail } from '../model/addresses.ts';
import { AuthError } from '../model/auth-error.ts';
import { assertModest, keepWhatFits, type Metadata } from '../model/metadata.ts';
import { type ClaimShape, isTrueClaim, readClaimText, readCustomClaims, readShape, tokenShape } from './claim-shape.ts';
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
  /** If absent, that of the traits. */
  readonly shape?: ClaimShape | undefined;
  /** The configured issuer. Tokens of other issuers may be accepted, too. */
  readonly ownIssuer: string;
}

/** Longest subject that OpenID Connect allows. */
const maxSubjectLength = 255;

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
  const shape = source.shape ?? source.traits?.shape ?? tokenShape;
  const identityData = {
    ...readShape(shape, { ...claims, sub: subject }),
    iss: readClaimText(claims.iss),
    sub: subject,
    email: email ?? undefined,
    email_verified: isEmailVerified,
    phone_verified: false,
  };
  const known = Object.fromEntries(Object.entries(identityData).filter(([, value]) => value !== undefined));
  assertModest(known, {}, 'What a provider says of a user');
  const custom = readCustomClaims(shape, claims);
  const emails = [...(email === null ? [] : [email]), ...more.map((address) => address.toLowerCase())];
  return {
    provider: source.provider,
    subject,
    email,
    isEmailVerified,
    emails: [...new Set(emails)],
    identityData: custom === undefined ? known : { ...known, custom_claims: keepWhatFits(custom, known) },
  };
}

function readSubject(value: unknown): string {
  const subject = typeof value === 'number' ? String(value) : value;
  if (typeof subject === 'string' && subject !== '' && subject.length <= maxSubjectLength && isStorable(subject)) {
    return subject;
  }
  throw new AuthError('validation_failed', 'The provider names the user by something that cannot be kept.');
}

function isVerified({ traits, ownIssuer }: ClaimSource, claims: Claims): boolean {
  return traits?.isEmailVerified?.(claims, ownIssuer) ?? isTrueClaim(claims.email_verified);
}
