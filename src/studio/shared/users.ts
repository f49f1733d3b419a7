/**
 * Users of the project, by way of the admin endpoints of the auth service.
 */
import { ask } from './api.ts';
import { apiKeys } from './keys.ts';
import { bearer } from './session.ts';

/** What the studio reads of a user. */
export interface StudioUser {
  readonly id: string;
  readonly email: string;
  readonly phone: string;
  readonly user_metadata: Readonly<Record<string, unknown>>;
}

/** Users that are offered at once. */
const pageSize = 200;

/** The newest users. @throws ApiError, 401 where there is no service key or a wrong one. */
export async function listUsers(): Promise<readonly StudioUser[]> {
  const { service } = apiKeys.get();
  const { body } = await ask<{ users: readonly StudioUser[] }>(`/auth/v1/admin/users?page=1&per_page=${pageSize}`, {
    headers: { apikey: service, ...bearer(service) },
  });
  return body.users;
}
