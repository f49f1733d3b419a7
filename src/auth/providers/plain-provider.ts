/**
 * What a provider that speaks OAuth alone has to bring: where it is, and how its API tells who the user is.
 */

/** What a provider says of a user, by the names of OpenID Connect. */
export type Claims = Readonly<Record<string, unknown>>;

/** Reads JSON from an address of the provider, in the name of the user. */
export type ReadApi = (address: string) => Promise<unknown>;

/** What the API of a provider without OpenID Connect says of a user. */
export interface ApiUser {
  readonly claims: Claims;
  /** All addresses of the user, the one in the claims included. */
  readonly emails: readonly string[];
}

/** A provider that speaks OAuth alone, with an API of its own for the user. */
export interface PlainProvider {
  /** @param site The address of the provider without a slash at the end. */
  endpoints(site: string): { readonly authorize: string; readonly token: string };
  readUser(read: ReadApi, site: string): Promise<ApiUser>;
}
