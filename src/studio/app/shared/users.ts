/** Users of the project, from the admin API of the auth service with the access token. */
import type { OperatorToken } from '../../../auth/answers/operator-token.ts';
import type { ApiAnswer, ApiRequest } from './api.ts';
import { askAsOperator, askProject } from './session.ts';

/** A way to sign in. */
export interface UserIdentity {
  readonly identity_id: string;
  readonly provider: string;
  readonly identity_data: Readonly<Record<string, unknown>>;
  readonly email?: string;
  readonly created_at: string;
  readonly last_sign_in_at: string | null;
}

/** A second factor. */
export interface UserFactor {
  readonly id: string;
  readonly factor_type: string;
  readonly friendly_name?: string;
  readonly status: string;
  readonly phone: string;
  readonly created_at: string;
}

/** The members of a user that the studio reads. Times are ISO 8601. */
export interface StudioUser {
  readonly id: string;
  readonly email: string;
  readonly phone: string;
  readonly role: string;
  readonly user_metadata: Readonly<Record<string, unknown>>;
  readonly app_metadata: Readonly<Record<string, unknown>>;
  readonly identities: readonly UserIdentity[];
  readonly factors?: readonly UserFactor[];
  readonly created_at: string;
  readonly updated_at: string;
  readonly last_sign_in_at?: string;
  readonly confirmed_at?: string;
  readonly email_confirmed_at?: string;
  readonly phone_confirmed_at?: string;
  readonly invited_at?: string;
  readonly banned_until?: string;
  readonly deleted_at?: string;
  readonly is_anonymous: boolean;
}

/** A part of a list. */
export interface UserPage {
  readonly users: readonly StudioUser[];
  /** Null at the end. */
  readonly next_cursor: string | null;
  /** On the first page; null where it is not known. */
  readonly total: number | null;
  readonly is_total_estimated: boolean;
}

/** A session of a user. */
export interface UserSession {
  readonly id: string;
  readonly created_at: string;
  readonly refreshed_at: string | null;
  readonly not_after: string | null;
  readonly aal: string;
  readonly methods: readonly string[];
  readonly user_agent: string | null;
  readonly ip: string | null;
}

/** An entry of the audit log. */
export interface AuditEntry {
  readonly id: string;
  readonly created_at: string;
  readonly ip_address: string;
  readonly payload: { readonly action: string; readonly actor_username: string };
}

/** Finds users. @param query Parameters of `GET /admin/users`. @throws ApiError */
export async function findUsers(query: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<UserPage> {
  const path = `admin/users?${new URLSearchParams({ order: 'created_at.desc', ...query })}`;
  return (await askAuth<UserPage>(path, signal ? { signal } : {})).body;
}

/** @throws ApiError, 404 for an unknown user. */
export async function readUser(id: string): Promise<StudioUser> {
  return (await askAuth<StudioUser>(userPath(id))).body;
}

/** Changes a user, unless somebody else did since it was read. @throws ApiError, 412 then */
export async function changeUser({ id, updated_at: read }: StudioUser, body: object): Promise<StudioUser> {
  const headers = { 'if-match': `"${read}"` };
  return (await askAuth<StudioUser>(userPath(id), { method: 'PUT', headers, body })).body;
}

/** The path of a user, or of what belongs to it, below `/auth/v1/`. */
export function userPath(id: string, ...parts: readonly string[]): string {
  return ['admin/users', ...[id, ...parts].map(encodeURIComponent)].join('/');
}

/** Creates the user if missing, and sends the invitation. @throws ApiError */
export async function inviteUser(email: string): Promise<StudioUser> {
  return (await askAuth<StudioUser>('invite', { method: 'POST', body: { email } })).body;
}

/** Sends a link to choose another password. @throws ApiError */
export async function sendRecovery(id: string): Promise<void> {
  await askAuth(userPath(id, 'recover'), { method: 'POST' });
}

/** A token with which an operator acts as the user; it belongs to no session. @throws ApiError */
export async function actAsUser(id: string): Promise<OperatorToken> {
  return (await askProject<OperatorToken>('act-as', { method: 'POST', body: { user: id } })).body;
}

/** A request to the admin API of the auth service. @throws ApiError as `askAsOperator` */
export function askAuth<T>(path: string, request: ApiRequest = {}): Promise<ApiAnswer<T>> {
  const headers = { 'x-supabase-api-version': '2024-01-01', ...request.headers };
  return askAsOperator<T>(`/auth/v1/${path}`, { ...request, headers });
}
