/** An access token as the management API lists it, and its descriptions on the page. */
import type { ListedToken } from '../../../../management/tokens/token-requests.ts';
import { momentText } from '../../components/moment.tsx';

/** Scopes with their descriptions. */
export const scopes = [
  { name: 'auth_config:read', title: 'Read the auth configuration' },
  { name: 'auth_config:write', title: 'Change the auth configuration and email templates' },
  { name: 'project:read', title: 'Read the GraphQL schema of every role' },
  { name: 'project:operate', title: 'Operate the project: act as any user, see plans, manage access tokens' },
  { name: 'database:write', title: 'Run SQL statements, which the page Access collects' },
] as const;

/** When it expires or expired. */
export function describeEnd({ expiresAt }: Pick<ListedToken, 'expiresAt'>): string {
  if (expiresAt === null) return 'Never';
  const end = momentText(expiresAt);
  return new Date(expiresAt).getTime() <= Date.now() ? `Expired ${end}` : end;
}

const dayMs = 86_400_000;

/** Lifetimes of a new token; the first is the default. */
const lives = [
  { title: '30 days', days: 30 },
  { title: '90 days', days: 90 },
  { title: '1 year', days: 365 },
] as const;

interface End {
  readonly title: string;
  /** ISO 8601; null: never. */
  readonly expiresAt: string | null;
  /** The same for the command. */
  readonly expires: string | null;
}

/** Expiry dates of a new token. @param latest Expiry of the creating token; null: none. */
export function possibleEnds(latest: string | null): readonly End[] {
  const ends = lives.map(({ title, days }) => ({
    title,
    expiresAt: new Date(Date.now() + days * dayMs).toISOString(),
    expires: `${days}d`,
  }));
  if (latest === null) return [...ends, { title: 'Never', expiresAt: null, expires: null }];
  const last = { title: `With your own token: ${momentText(latest)}`, expiresAt: latest, expires: latest };
  return [...ends.filter(({ expiresAt }) => new Date(expiresAt) < new Date(latest)), last];
}
