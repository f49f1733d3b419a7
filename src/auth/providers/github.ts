/**
 * GitHub and GitHub Enterprise: OAuth without OpenID Connect, the user is read from the API.
 */
import type { PlainProvider } from './plain-provider.ts';

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
