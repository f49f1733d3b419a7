/** Deletes expired rows, a hundred per statement, and skips locked ones: it can run in several processes at once. */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import type { OutboxParts } from '../../email/outbox/outbox-worker.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { RepeatedWork } from '../../postgres/system/repeated-work.ts';
import { type Time, toTimestamp } from '../../shared/times.ts';
import { guessSeconds } from './one-time-tokens.ts';

/** The configured limits of sessions, and whether anonymous users are deleted. */
export interface CleanUpOptions {
  readonly config: Pick<
    AuthConfig,
    | 'sessions_timebox'
    | 'sessions_inactivity_timeout'
    | 'mailer_deliveries_retention_days'
    | 'mailer_otp_exp'
    | 'sms_otp_exp'
  >;
  readonly now: Time;
  /** Also deletes anonymous users older than 30 days; opt-in by the operator. */
  readonly deleteAnonymousUsers: boolean;
}

/** Rows that one round deleted or revoked, by kind. */
type CleanUpCounts = Readonly<Record<string, number>>;

/**
 * Keeps the token used last: it may be exchanged for the active one at any time, because that answer may have been
 * lost. `offset 0` makes PostgreSQL check each token separately, so the search stops at the limit; a join would start
 * with all tokens.
 */
const uselessToken = `t.revoked and t.updated_at < $1::timestamptz - interval '24 hours' and not exists (
      select from auth.refresh_tokens a where a.parent = t.token and a.revoked is not true offset 0
    )`;

/** `$1` is now, `$2` hours. */
const statements = {
  revokedTokens: oldRows('refresh_tokens', uselessToken),
  flows: oldRows('flow_state', 't.created_at < $1::timestamptz - interval \'24 hours\''),
  clientStates: oldRows('oauth_client_states', 't.created_at < $1::timestamptz - interval \'24 hours\''),
  challenges: oldRows('mfa_challenges', 't.created_at < $1::timestamptz - interval \'24 hours\''),
  unverifiedFactors: oldRows(
    'mfa_factors', 't.status = \'unverified\' and t.created_at < $1::timestamptz - interval \'24 hours\'',
  ),
  endedSessions: oldRows('sessions', 't.not_after < $1::timestamptz - interval \'72 hours\'', 10),
  suppressed: `delete from pgreflect_queue.suppressed d
    where d.recipient_hash in (
      select t.recipient_hash from pgreflect_queue.suppressed t
      where t.expires_at < $1::timestamptz limit 100 for update skip locked
    )
    returning d.reason`,
} as const; // biome-ignore format: a table

/** An email that waits needs its delivery: it says whether the address is suppressed, and takes the outcome. */
const deliveries = `delete from pgreflect_queue.deliveries d
  where d.id in (
    select t.id from pgreflect_queue.deliveries t
    where t.created_at < $1::timestamptz - $2::float8 * interval '1 day' and (
      t.state not in ('queued', 'deferred')
      or not exists (select from pgreflect_queue.emails e where e.delivery_id = t.id)
    ) limit 100 for update skip locked
  )
  returning d.id`;

/** Limits on messages may span weeks, guesses count for `$2` seconds, requests for an hour at most. */
const rateLimits = `delete from auth.pgreflect_rate_limits d
  where d.name in (
    select t.name from auth.pgreflect_rate_limits t
    where t.updated_at < $1::timestamptz - $2::float8 * interval '1 second' and t.name not like 'bucket:sent:%'
    limit 100 for update skip locked
  )
  returning d.name`;

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

/** Both texts are constants of this file. */
function oldRows(table: OwnedTable, condition: string, limit: 10 | 100 = 100): string {
  return `delete from auth.${table} d
    where d.id in (select t.id from auth.${table} t where ${condition} limit ${limit} for update skip locked)
    returning d.id`;
}

/** Runs one round; repeat while it finds rows. */
export async function cleanUp(database: Queryable, options: CleanUpOptions): Promise<CleanUpCounts> {
  const { config, deleteAnonymousUsers } = options;
  const now = toTimestamp(options.now);
  const counts: Record<string, number> = {};
  const run = async (name: string, text: string, values: readonly unknown[] = [now]) => {
    counts[name] = (await database.query(text, values)).length;
  };
  await run('tokensOfEndedSessions', tokensOfEndedSessions);
  for (const [name, text] of Object.entries(statements)) await run(name, text);
  await run('rateLimits', rateLimits, [now, guessSeconds(config)]);
  await run('deliveries', deliveries, [now, config.mailer_deliveries_retention_days]);
  if (config.sessions_timebox > 0) await run('olderThanTimebox', olderThanTimebox, [now, config.sessions_timebox]);
  if (config.sessions_inactivity_timeout > 0) {
    await run('idleSessions', idleSessions, [now, config.sessions_inactivity_timeout]);
  }
  if (deleteAnonymousUsers) await run('anonymousUsers', anonymousUsers);
  return counts;
}

/** What the clean-up of a process needs; `everyMs` is the interval. */
type CleanUpParts = Pick<OutboxParts, 'database' | 'currentConfig' | 'isInstalled' | 'clock' | 'observe'> &
  Pick<CleanUpOptions, 'deleteAnonymousUsers'> & { readonly everyMs: number };

/** The clean-up of a process. The first round is delayed, to keep the start fast. */
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
      const message = `Deleting expired rows from the auth tables failed: ${reason}`;
      observe({ kind: 'warning', message });
    },
  });
  return work;
}
