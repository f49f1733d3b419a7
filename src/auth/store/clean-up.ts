/**
 * Deletes what nobody can use any more, a little at a time, so that it may run beside requests and in several processes:
 * each statement takes at most a hundred rows that nobody else holds.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import type { OutboxParts } from '../../email/outbox/outbox-worker.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { RepeatedWork } from '../../postgres/system/repeated-work.ts';
import { type Time, toTimestamp } from '../times.ts';

/** What decides about sessions, and whether users go. */
export interface CleanUpOptions {
  readonly config: Pick<AuthConfig, 'sessions_timebox' | 'sessions_inactivity_timeout'>;
  readonly now: Time;
  /** Also deletes anonymous users of more than 30 days: an operator must have asked for it. */
  readonly deleteAnonymousUsers: boolean;
}

/** Rows that one round deleted or revoked, by what they were. */
export type CleanUpCounts = Readonly<Record<string, number>>;

/**
 * The token that was used last gives the active one again, at any time: the answer with it may have been lost. `offset 0` has
 * each token looked up by itself, so that the search ends with the limit; as a join it would begin with all tokens.
 */
const uselessToken = `t.revoked and t.updated_at < $1::timestamptz - interval '24 hours' and not exists (
      select from auth.refresh_tokens a where a.parent = t.token and a.revoked is not true offset 0
    )`;

/** `$1` is now, `$2` hours. Limits on messages may be for weeks, those on requests are for an hour at most. */
const statements = {
  revokedTokens: oldRows('refresh_tokens', uselessToken),
  flows: oldRows('flow_state', 't.created_at < $1::timestamptz - interval \'24 hours\''),
  clientStates: oldRows('oauth_client_states', 't.created_at < $1::timestamptz - interval \'24 hours\''),
  challenges: oldRows('mfa_challenges', 't.created_at < $1::timestamptz - interval \'24 hours\''),
  unverifiedFactors: oldRows(
    'mfa_factors', 't.status = \'unverified\' and t.created_at < $1::timestamptz - interval \'24 hours\'',
  ),
  endedSessions: oldRows('sessions', 't.not_after < $1::timestamptz - interval \'72 hours\'', 10),
  rateLimits: `delete from auth.pgreflect_rate_limits d
    where d.name in (
      select t.name from auth.pgreflect_rate_limits t
      where t.updated_at < $1::timestamptz - interval '24 hours' and t.name not like 'bucket:sent:%'
      limit 100 for update skip locked
    )
    returning d.name`,
} as const; // biome-ignore format: a table

const tokensOfEndedSessions = `update auth.refresh_tokens u set revoked = true, updated_at = $1::timestamptz
  where u.id in (
    select t.id from auth.refresh_tokens t join auth.sessions s on s.id = t.session_id
    where t.revoked is not true and s.not_after < $1::timestamptz - interval '24 hours'
    limit 100 for update of t skip locked
  )
  returning u.id`;

const anonymousUsers = oldRows('users', "t.is_anonymous and t.created_at < $1::timestamptz - interval '30 days'");
const olderThanTimebox = oldRows(
  'sessions',
  "t.created_at + $2::float8 * interval '1 hour' < $1::timestamptz - interval '24 hours'",
);
const idleSessions = oldRows(
  'sessions',
  "coalesce(t.refreshed_at at time zone 'UTC', t.created_at) + $2::float8 * interval '1 hour' < $1::timestamptz - interval '24 hours'",
);

type OwnedTable =
  | 'refresh_tokens' | 'flow_state' | 'oauth_client_states' | 'mfa_challenges' | 'mfa_factors' | 'sessions' | 'users'; // biome-ignore format: a list

/** Both texts are from this file. */
function oldRows(table: OwnedTable, condition: string, limit: 10 | 100 = 100): string {
  return `delete from auth.${table} d
    where d.id in (select t.id from auth.${table} t where ${condition} limit ${limit} for update skip locked)
    returning d.id`;
}

/** Runs one round; call it again while something is found. */
export async function cleanUp(database: Queryable, options: CleanUpOptions): Promise<CleanUpCounts> {
  const { config, deleteAnonymousUsers } = options;
  const now = toTimestamp(options.now);
  const counts: Record<string, number> = {};
  const run = async (name: string, text: string, values: readonly unknown[] = [now]) => {
    counts[name] = (await database.query(text, values)).length;
  };
  await run('tokensOfEndedSessions', tokensOfEndedSessions);
  for (const [name, text] of Object.entries(statements)) await run(name, text);
  if (config.sessions_timebox > 0) await run('olderThanTimebox', olderThanTimebox, [now, config.sessions_timebox]);
  if (config.sessions_inactivity_timeout > 0) {
    await run('idleSessions', idleSessions, [now, config.sessions_inactivity_timeout]);
  }
  if (deleteAnonymousUsers) await run('anonymousUsers', anonymousUsers);
  return counts;
}

/** What the clean-up of a process works with; `everyMs` lie between two looks. */
type CleanUpParts = Pick<OutboxParts, 'database' | 'currentConfig' | 'isInstalled' | 'clock' | 'observe'> &
  Pick<CleanUpOptions, 'deleteAnonymousUsers'> & { readonly everyMs: number };

/** The clean-up of a process, for the first time after a while: a start has better things to do. */
export function createCleanUpWork(parts: CleanUpParts): RepeatedWork {
  const { database, currentConfig, isInstalled, everyMs, deleteAnonymousUsers, clock, observe } = parts;
  const mayHaveMore = async () => {
    const counts = await cleanUp(database, { config: await currentConfig(), now: clock.now(), deleteAnonymousUsers });
    return Object.values(counts).some((count) => count > 0);
  };
  const work = new RepeatedWork({
    everyMs,
    async round() {
      if (await isInstalled()) while (!work.isStopped && (await mayHaveMore()));
    },
    complain(reason) {
      const message = `What is of no use any more could not be deleted from the auth tables: ${reason}`;
      observe({ kind: 'warning', message });
    },
  });
  return work;
}
