/** The Bearer token of an `Authorization` header (RFC 6750, section 2.1); empty without text; null for others. */
export function readBearerToken(authorization: string | undefined): string | null {
  const match = /^bearer(?: +(.*))?$/is.exec(authorization ?? '');
  return match === null ? null : (match[1] ?? '').trim();
}

/** How access tokens of the management API begin, as Supabase's do. */
export const accessTokenPrefix = 'sbp_';
