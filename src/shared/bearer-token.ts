/**
 * The token of an `Authorization` header with the scheme Bearer (RFC 6750, section 2.1). Empty: the scheme alone. Null:
 * no header, or another scheme.
 */
export function readBearerToken(authorization: string | undefined): string | null {
  const match = /^bearer(?: +(.*))?$/is.exec(authorization ?? '');
  return match === null ? null : (match[1] ?? '').trim();
}
