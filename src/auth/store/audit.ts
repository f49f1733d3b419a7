/** The audit log: one row per event, written in the transaction of the change. */
import { randomUUID } from 'node:crypto';
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { toTimestamp } from '../../shared/times.ts';
import { nilUuid } from '../../shared/uuid.ts';
import type { User } from '../model/user.ts';
import type { StoreTransaction } from './transaction.ts';

/** Audit actions and their log type. */
const logTypes = {
  login: 'account',
  logout: 'account',
  invite_accepted: 'account',
  user_signedup: 'team',
  user_invited: 'team',
  user_deleted: 'team',
  user_impersonated: 'team',
  service_role_used: 'team',
  authenticated_role_used: 'team',
  statements_run: 'team',
  access_token_created: 'token',
  access_token_revoked: 'token',
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

/** The user or admin who acted. */
interface AuditActor {
  readonly id: string;
  /** Phone or email; for admin calls the role. */
  readonly username: string;
  readonly viaSso: boolean;
  readonly name: string | null;
}

interface AuditEvent {
  readonly action: AuditAction;
  readonly actor: AuditActor;
  readonly traits?: Readonly<Record<string, unknown>> | undefined;
  /** The row contains the client's IP address. */
  readonly hasAddress?: boolean;
}

/** A transaction of a request. */
export interface AuditTransaction extends StoreTransaction {
  readonly config: Pick<AuthConfig, 'audit_log_disable_postgres'>;
  readonly client: { readonly ip: string | null };
}

/** Longest user name in a row, in characters. */
const maxNameLength = 255;

/** Writes an action of a user. */
export function auditUser(
  tx: AuditTransaction,
  action: AuditAction,
  user: User,
  traits?: AuditEvent['traits'],
): Promise<void> {
  return writeAudit(tx, { action, actor: userActor(user), traits, hasAddress: hasAddress(action) });
}

/** Writes an action of a caller of the admin API. */
export function auditAdmin(
  tx: AuditTransaction,
  action: AuditAction,
  admin: Admin,
  traits: AuditEvent['traits'],
): Promise<void> {
  if ('tokenId' in admin) return auditOperator(tx, action, admin, traits);
  const actor = { id: nilUuid, username: admin.role, viaSso: false, name: null };
  return writeAudit(tx, { action, actor, traits, hasAddress: hasAddress(action) });
}

/** Holder of an access token of the management API. */
export interface Operator {
  readonly tokenId: string;
  /** A name for humans. */
  readonly by: string;
}

/** Who asks the admin API: a holder of an access token, or of a token with the role of an admin. */
export type Admin = Operator | { readonly role: string };

/** Writes an action of an operator, always: a token that may change the configuration could switch the log off before. */
export async function auditOperator(
  tx: AuditTransaction,
  action: AuditAction,
  { tokenId, by }: Operator,
  traits: AuditEvent['traits'],
): Promise<void> {
  const actor = { id: nilUuid, username: by, viaSso: false, name: null };
  const event = { action, actor, traits: { ...traits, access_token_id: tokenId }, hasAddress: true };
  await tx.query(insertAuditRows, [printRows(tx, [event])]);
}

/** As Supabase Auth does. */
function hasAddress(action: AuditAction): boolean {
  return logTypes[action] === 'factor' || action === 'identity_linked' || action === 'identity_unlinked';
}

/** Writes one event, unless the log is switched off. */
async function writeAudit(tx: AuditTransaction, event: AuditEvent): Promise<void> {
  if (tx.config.audit_log_disable_postgres) return;
  await tx.query(insertAuditRows, [toAuditRows(tx, [event])]);
}

/** A user as the actor. */
export function userActor(user: User): AuditActor {
  const name = user.userMetadata.full_name;
  const characters = typeof name === 'string' ? [...name.slice(0, 2 * maxNameLength)].slice(0, maxNameLength) : [];
  return {
    id: user.id,
    username: user.phone ?? user.email ?? '',
    viaSso: user.isSsoUser,
    name: characters.join('') || null,
  };
}

/** The rows of events for a statement that takes them as one JSON parameter. */
export function toAuditRows(tx: AuditTransaction, events: readonly AuditEvent[]): string {
  return tx.config.audit_log_disable_postgres ? '[]' : printRows(tx, events);
}

function printRows({ client, clock }: AuditTransaction, events: readonly AuditEvent[]): string {
  return JSON.stringify(
    events.map(({ action, actor, traits = {}, hasAddress }) => ({
      id: randomUUID(),
      created_at: toTimestamp(clock.now()),
      ip_address: hasAddress ? (client.ip ?? '') : '',
      payload: {
        action,
        actor_id: actor.id,
        ...(actor.name === null ? {} : { actor_name: actor.name }),
        actor_username: actor.username,
        actor_via_sso: actor.viaSso,
        log_type: logTypes[action],
        ...(Object.keys(traits).length > 0 ? { traits } : {}),
      },
    })),
  );
}

/** Inserts rows made by `toAuditRows`; `$1` is the JSON. */
const insertAuditRows = `insert into auth.audit_log_entries (instance_id, id, payload, created_at, ip_address)
  select '${nilUuid}', a.id, a.payload, a.created_at, a.ip_address
  from pg_catalog.json_to_recordset($1::json) as a (id uuid, payload json, created_at timestamptz, ip_address text)`;
