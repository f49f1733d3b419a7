/**
 * Providers with plain OAuth: their endpoints, and how to read the user from their API. GitHub is one.
 */

/** Claims of a user, by the names of OpenID Connect. */
export type Claims = Readonly<Record<string, unknown>>;

/** Reads JSON from an address of the provider with the user's token. */
type ReadApi = (address: string) => Promise<unknown>;

/** A user as the API of a provider without OpenID Connect describes them. */
export interface ApiUser {
  readonly claims: Claims;
  /** All addresses of the user, the one in the claims included. */
  readonly emails: readonly string[];
}

/** A provider with plain OAuth and its own API for the user. */
export interface PlainProvider {
  /** @param site The address of the provider without a slash at the end. */
  endpoints(site: string): { readonly authorize: string; readonly token: string };
  readUser(read: ReadApi, site: string): Promise<ApiUser>;
}

const publicSite = 'https://github.com';

/** Its endpoints, and how to read a user. */
export const gitHub: PlainProvider = {
  endpoints: (site) => ({ authorize: `${site}/login/oauth/authorize`, token: `${site}/login/oauth/access_token` }),
  async readUser(read, site) {
    const api = site === publicSite ? 'https://api.github.com' : `${site}/api/v3`;
    const [user, addresses] = await Promise.all([read(`${api}/user`), read(`${api}/user/emails?per_page=100`)]);
    const { id, login, name, avatar_url: picture } = toRecord(user);
    const emails = Array.isArray(addresses) ? addresses.map(toRecord) : [];
    const primary = emails.find((email) => email.primary === true);
    const address = primary === undefined ? {} : { email: primary.email, email_verified: primary.verified === true };
    return {
      claims: { iss: api, sub: id, name: name || login, preferred_username: login, picture, ...address },
      emails: emails.flatMap(({ email }) => (typeof email === 'string' ? [email] : [])),
    };
  },
};

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
