/** The token of an `Authorization` header (RFC 6750, section 2.1); undefined if there is none. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
}
