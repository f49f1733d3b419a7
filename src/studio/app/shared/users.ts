/** Users of the project, from the auth service with the service key. */
import type { OperatorToken } from '../../../auth/answers/operator-token.ts';
import { type ApiAnswer, ApiError, type ApiRequest, ask, bearer } from './api.ts';
import { apiKeys, forgetService } from './keys.ts';
import { askAsOperator } from './session.ts';

/** The members of a user that the studio reads. Times are ISO 8601. */
export interface StudioUser {
  readonly id: string;
  readonly email: string;
  readonly phone: string;
  readonly role: string;
  readonly user_metadata: Readonly<Record<string, unknown>>;
  readonly app_metadata: Readonly<Record<string, unknown>>;
  readonly identities: readonly { readonly provider: string }[];
  readonly factors?: readonly { readonly factor_type: string; readonly status: string }[];
  readonly created_at: string;
  readonly last_sign_in_at?: string;
  readonly confirmed_at?: string;
  readonly invited_at?: string;
  readonly banned_until?: string;
  readonly deleted_at?: string;
  readonly is_anonymous: boolean;
}

/** Part of the list. */
export interface UserPage {
  readonly users: readonly StudioUser[];
  /** Number on all pages. */
  readonly total: number;
}

/** The requested part: pages count from 1; the filter is part of an address or name. */
interface UserQuery {
  readonly page: number;
  readonly size: number;
  readonly filter: string;
}

/** Newest first. @throws ApiError, 401 or 403 if the service key is refused, which is then dropped. */
export async function listUsers({ page, size, filter }: UserQuery): Promise<UserPage> {
  // Addresses are stored and compared in lower case; names match in any case.
  const query = new URLSearchParams({ page: String(page), per_page: String(size), filter: filter.toLowerCase() });
  const { service } = apiKeys.get();
  const { body, headers } = await askAuth<{ users: readonly StudioUser[] }>(`admin/users?${query}`).catch((error) => {
    if (error instanceof ApiError && (error.status === 401 || error.status === 403)) {
      forgetService(service, error.message);
    }
    throw error;
  });
  return { users: body.users, total: Number(headers.get('x-total-count')) };
}

/** The newest users, for selecting one: with the service key, or as an operator without it. @throws ApiError */
export async function newestUsers(): Promise<readonly StudioUser[]> {
  if (apiKeys.get().service !== '') return (await listUsers({ page: 1, size: 200, filter: '' })).users;
  const { body } = await askAsOperator<Pick<UserPage, 'users'>>('/studio/users', { method: 'POST' });
  return body.users;
}

/** @throws ApiError, 404 for an unknown user. */
export async function readUser(id: string): Promise<StudioUser> {
  return (await askAuth<StudioUser>(`admin/users/${encodeURIComponent(id)}`)).body;
}

/** Creates the user if missing, and sends the invitation. @throws ApiError */
export async function inviteUser(email: string): Promise<StudioUser> {
  return (await askAuth<StudioUser>('invite', { method: 'POST', body: { email } })).body;
}

/** A token with which an operator acts as the user; it belongs to no session. @throws ApiError */
export async function actAsUser(id: string): Promise<OperatorToken> {
  return (await askAsOperator<OperatorToken>('/studio/act-as', { method: 'POST', body: { user: id } })).body;
}

/** A request to the auth service as an admin. @throws ApiError */
export function askAuth<T>(path: string, request: ApiRequest = {}): Promise<ApiAnswer<T>> {
  const { service } = apiKeys.get();
  const headers = { apikey: service, ...bearer(service), ...request.headers };
  return ask<T>(`/auth/v1/${path}`, { ...request, headers });
}
