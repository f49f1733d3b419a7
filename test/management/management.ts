/**
 * Gateways with the auth tables in a test's database, and calls of their management API over the network.
 */
import { onTestFinished } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { type AccessScope, createAccessToken } from '../../src/management/tokens/access-tokens.ts';
import { createSystemPool, type SystemPool } from '../../src/postgres/system/run-system.ts';
import { type TestGateway, testGateway } from '../support/gateway.ts';
import { anonKey } from '../support/http.ts';
import { takeGateway } from '../support/left-gateway.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { atEnd } from '../support/when-over.ts';

export const ref = 'abcdefghijklmnopqrst';

/** Runs something on a pool that is closed afterwards. */
export async function usePool<T>(database: TestDatabase, use: (pool: SystemPool) => Promise<T>): Promise<T> {
  const pool = openPool(database.url);
  try {
    return await use(pool);
  } finally {
    await pool.stop();
  }
}

/** A pool as superuser; closed when the test has ended, or by whoever opened it. */
export function openPool(url: string): SystemPool {
  const connection = { connectionString: url, size: 3, waitMs: 60_000 };
  return createSystemPool({ ...connection, applicationName: 'test', onError: () => {} });
}

/** A pool that is closed when the test has ended. */
export function testPool(database: TestDatabase): SystemPool {
  const pool = openPool(database.url);
  onTestFinished(() => pool.stop());
  return pool;
}

/** Makes a token that may do everything, unless something else is said. */
export async function addToken(
  database: TestDatabase,
  more: { scopes?: readonly AccessScope[]; projectRef?: string; expiresAt?: Date } = {},
): Promise<string> {
  const { scopes = ['auth_config:read', 'auth_config:write'], projectRef = null, expiresAt = null } = more;
  const made = await usePool(database, (pool) =>
    createAccessToken(pool, { name: 'test', scopes, projectRef, createdBy: null, createdAt: new Date(), expiresAt }),
  );
  return made.token;
}

/** An answer of the API. */
export interface ManagementReply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  readonly body: any;
}

/** A gateway and a token for it. */
export interface ManagedGateway {
  readonly gateway: TestGateway;
  get(): Promise<ManagementReply>;
  patch(body: unknown): Promise<ManagementReply>;
  call(request: {
    method?: string;
    path?: string;
    token?: string | null;
    headers?: Record<string, string>;
    body?: string | Uint8Array<ArrayBuffer>;
  }): Promise<ManagementReply>;
}

/**
 * A gateway of the project `ref`, or the one of the test before (left-gateway.ts); `token` is sent where a call says nothing else.
 */
export async function managedGateway(
  database: TestDatabase,
  token: string,
  given: Partial<Config> = {},
): Promise<ManagedGateway> {
  const { gateway } = await managed(database, { projectRef: ref, ...given });
  const call: ManagedGateway['call'] = async (request) => {
    const { method = 'GET', path = `/v1/projects/${ref}/config/auth`, headers = {}, body } = request;
    const authorization = request.token === undefined ? `Bearer ${token}` : request.token;
    const response = await fetch(`${gateway.url}${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(authorization !== null && { authorization }),
        ...headers,
      },
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
  };
  return {
    gateway,
    call,
    get: () => call({}),
    patch: (body) => call({ method: 'PATCH', body: JSON.stringify(body) }),
  };
}

async function managed(database: TestDatabase, given: Partial<Config>): Promise<{ readonly gateway: TestGateway }> {
  const { authValues = {}, ...options } = given;
  return takeGateway({ database, options }, authValues, {
    start: async () => ({ gateway: await testGateway(database, given, atEnd) }),
    begin: async ({ gateway }) => {
      gateway.observations.length = 0;
      // Versions of what is stored begin anew in some tests, so it has to see that there is none.
      await fetch(`${gateway.url}/auth/v1/settings`, { headers: { apikey: anonKey } });
    },
  });
}

/** The problems or warnings of a change as sentences. */
export function sentences(notes: readonly { readonly message: string }[]): readonly string[] {
  return notes.map(({ message }) => message);
}
