/** Providers with plain OAuth, GitHub and GitLab: their endpoints, and how to read the user from their API. */

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
      claims: { iss: api, sub: id, name, login, picture, ...address },
      emails: textsOf(emails),
    };
  },
};

/** As above. An address without `confirmed_at` is not verified. */
export const gitLab: PlainProvider = {
  endpoints: (site) => ({ authorize: `${site}/oauth/authorize`, token: `${site}/oauth/token` }),
  async readUser(read, site) {
    const api = `${site}/api/v4`;
    const [user, addresses] = await Promise.all([read(`${api}/user`), read(`${api}/user/emails?per_page=100`)]);
    const { id, name, avatar_url: picture, email, confirmed_at: confirmedAt } = toRecord(user);
    const emails = Array.isArray(addresses) ? addresses.map(toRecord) : [];
    return {
      claims: { iss: site, sub: id, name, picture, email, email_verified: Boolean(confirmedAt) },
      emails: textsOf(emails),
    };
  },
};

function textsOf(emails: readonly Readonly<Record<string, unknown>>[]): readonly string[] {
  return emails.flatMap(({ email }) => (typeof email === 'string' && email !== '' ? [email] : []));
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
