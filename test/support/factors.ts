/**
 * Second factors as a user has them: an authenticator app that knows its secret, and the requests it is used in.
 */
import { fromBase32, totpCode, totpStep } from '../../src/auth/secrets/totp.ts';
import type { AuthReply, TestAuth } from './auth-service.ts';

/** An app that was enrolled. */
export interface TestApp {
  readonly id: string;
  readonly secret: string;
  /** The code that it shows, or showed or will show that many steps of 30 seconds away. */
  code(stepsAway?: number): string;
}

/** The requests of a user with that access token. */
export function factorsOf(auth: Pick<TestAuth, 'ask' | 'now'>, token: string) {
  const post = (path: string, body: unknown) => auth.ask(path, body, { token });
  const challenge = (id: string, body: unknown = {}) => post(`/factors/${id}/challenge`, body);
  const verify = (id: string, challenge_id: unknown, code: unknown) =>
    post(`/factors/${id}/verify`, { challenge_id, code });
  return {
    challenge,
    verify,
    enroll: (body: unknown) => post('/factors', body),
    unenroll: (id: string) => auth.ask(`/factors/${id}`, undefined, { method: 'DELETE', token }),
    async list() {
      return (await auth.ask('/user', undefined, { token })).body.factors ?? [];
    },
    async enrollApp(friendly_name = ''): Promise<TestApp> {
      const { body } = await post('/factors', { factor_type: 'totp', friendly_name });
      return appOf(auth, body.id, body.totp.secret);
    },
    /** Asks for a challenge and answers it. */
    async answer(id: string, code: string): Promise<AuthReply> {
      return verify(id, (await challenge(id)).body.id, code);
    },
  };
}

/** An app that took over a secret. */
export function appOf(auth: Pick<TestAuth, 'now'>, id: string, secret: string): TestApp {
  const key = fromBase32(secret)!;
  return { id, secret, code: (stepsAway = 0) => totpCode(key, totpStep(auth.now()) + stepsAway) };
}
