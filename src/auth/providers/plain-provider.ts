/**
 * Providers that speak OAuth alone: where they are, and how their API tells who the user is. GitHub is one.
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

const publicSite = 'https://github.com';

/** Where it is and how a user is read. */
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
