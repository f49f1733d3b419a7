/**
 * The requests that keep the auth service busy: the next token of a session, the code of an email, a password.
 *
 * Every request uses something up, so each is sent once, in the order of the users that sql/auth.sql makes. Each comes from an
 * address of its own, so that the limits on requests, which are in force, let them through.
 */
import { postRequest } from './load.ts';
import { anonKey } from './targets.ts';

/** One line of the table. */
export interface AuthCase {
  readonly title: string;
  /** What the product promises at least. */
  readonly goal: number | null;
  /** Users for each second of the load, more than any server can serve. */
  readonly usersPerSecond: number;
  /** The request of user `n`, from 1. */
  readonly request: (n: number) => Buffer;
}

const address = (n: number) => `user${n}@example.org`;

/** In the order of the table. */
export const authCases: readonly AuthCase[] = [
  {
    title: 'token refresh',
    goal: 1500,
    usersPerSecond: 4000,
    request: (n) => authRequest(n, '/token?grant_type=refresh_token', { refresh_token: String(n).padStart(12, '0') }),
  },
  {
    title: 'sign-in with the code of an email',
    goal: 1000,
    usersPerSecond: 3000,
    request: (n) => authRequest(n, '/verify', { type: 'email', email: address(n), token: String(n).padStart(6, '0') }),
  },
  { title: 'sign-in with a password', goal: null, usersPerSecond: 100, request: passwordRequest },
];

/** A sign-in of user `n` with the right password. */
export function passwordRequest(n: number): Buffer {
  return authRequest(n, '/token?grant_type=password', { email: address(n), password: 'a good password' });
}

function authRequest(n: number, path: string, body: object): Buffer {
  const headers = { apikey: anonKey(), 'sb-forwarded-for': `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}` };
  return postRequest(`/auth/v1${path}`, headers, JSON.stringify(body));
}
