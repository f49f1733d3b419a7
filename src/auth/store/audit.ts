/**
 * The audit log: one row per event, written in the transaction of the change it tells of.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { randomUuid } from '../random.ts';
import { toTimestamp } from '../times.ts';
import { nilUuid, type Tools } from '../tools.ts';
import type { User } from '../user.ts';

/** What can be told, and the heading under which it stands. */
const logTypes = {
  login: 'account',
  logout: 'account',
  invite_accepted: 'account',
  user_signedup: 'team',
  user_invited: 'team',
  user_deleted: 'team',
  user_impersonated: 'team',
  token_revoked: 'token',
  token_refreshed: 'token',
  user_modified: 'user',
  user_recovery_requested: 'user',
  user_reauthenticate_requested: 'user',
  user_confirmation_requested: 'user',
  user_repeated_signup: 'user',
  user_updated_password: 'user',
  identity_linked: 'user',
  identity_unlinked: 'user',
  factor_in_progress: 'factor',
  factor_unenrolled: 'factor',
  challenge_created: 'factor',
  verification_attempted: 'factor',
  factor_deleted: 'factor',
  factor_updated: 'factor',
} as const;

/** Name of an event. */
export type AuditAction = keyof typeof logTypes;

/** Who did it. */
export interface AuditActor {
  readonly id: string;
  /** Phone or email; for admin calls the role. */
  readonly username: string;
  readonly viaSso: boolean;
  readonly name: string | null;
}

/** One event. */
export interface AuditEvent {
  readonly action: AuditAction;
  readonly actor: AuditActor;
  readonly traits?: Readonly<Record<string, unknown>>;
  /** Given for links of identities, factors and operators only. */
  readonly ip?: string;
}

/** Longest name of a person in a row, in characters. */
const maxNameLength = 255;

/** A user as the one who acts. */
export function userActor(user: User): AuditActor {
  const name = user.userMetadata.full_name;
  return {
    id: user.id,
    username: user.phone ?? user.email ?? '',
    viaSso: user.isSsoUser,
    name:
      typeof name === 'string' && name !== ''
        ? [...name.slice(0, 2 * maxNameLength)].slice(0, maxNameLength).join('')
        : null,
  };
}

/** A caller of the admin API as the one who acts. */
export function adminActor(role: string): AuditActor {
  return { id: nilUuid, username: role, viaSso: false, name: null };
}

/** The rows of events, ready for a statement that takes them as one JSON parameter. */
export function toAuditRows(
  events: readonly AuditEvent[],
  { audit_log_disable_postgres: isOff }: Pick<AuthConfig, 'audit_log_disable_postgres'>,
  { clock, random }: Tools,
): string {
  if (isOff) return '[]';
  const createdAt = toTimestamp(clock.now());
  return JSON.stringify(
    events.map(({ action, actor, traits, ip }) => ({
      id: randomUuid(random),
      created_at: createdAt,
      ip_address: ip ?? '',
      payload: {
        action,
        actor_id: actor.id,
        ...(actor.name === null ? {} : { actor_name: actor.name }),
        actor_username: actor.username,
        actor_via_sso: actor.viaSso,
        log_type: logTypes[action],
        ...(traits && Object.keys(traits).length > 0 ? { traits } : {}),
      },
    })),
  );
}

/** Inserts rows made by `toAuditRows`; `$1` is the JSON. A part of statements that do more than that, too. */
export const insertAuditRows = `insert into auth.audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '${nilUuid}', a.id, a.payload, a.created_at, a.ip_address
  from pg_catalog.json_to_recordset($1::json) as a (id uuid, payload json, created_at timestamptz, ip_address text)`;

/** Writes one event, unless the log is switched off. */
export async function writeAudit(
  database: Queryable,
  event: AuditEvent,
  config: Pick<AuthConfig, 'audit_log_disable_postgres'>,
  tools: Tools,
): Promise<void> {
  if (config.audit_log_disable_postgres) return;
  await database.query(insertAuditRows, [toAuditRows([event], config, tools)]);
}
