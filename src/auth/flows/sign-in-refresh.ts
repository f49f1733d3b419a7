/**
 * The next access token for a refresh token.
 */
import { refreshSession } from '../refresh.ts';
import type { Flow } from './flow.ts';
import { type SessionJson, sessionAnswer } from './issue-session.ts';
import { type BodyShape, readMembers } from './members.ts';

/** Members of the body. */
export const refreshBody = { refresh_token: 'text' } as const satisfies BodyShape;

/** `POST /token?grant_type=refresh_token`. */
export async function signInWithRefreshToken(flow: Flow, body: unknown): Promise<SessionJson> {
  const { refresh_token: token } = readMembers(body, refreshBody);
  const { services, config, client } = flow;
  return sessionAnswer(flow, await refreshSession(services.database, token ?? '', { config, client, tools: services }));
}
