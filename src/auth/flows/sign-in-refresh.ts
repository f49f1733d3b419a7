/**
 * The next access token for a refresh token.
 */
import { refreshSession } from '../refresh.ts';
import type { Flow } from './flow.ts';
import { type SessionJson, sessionAnswer } from './issue-session.ts';
import { readMembers } from './members.ts';

/** `POST /token?grant_type=refresh_token`. */
export async function signInWithRefreshToken(flow: Flow, body: unknown): Promise<SessionJson> {
  const { refresh_token: token } = readMembers(body, { refresh_token: 'text' });
  const { services, config, client } = flow;
  return sessionAnswer(flow, await refreshSession(services.database, token ?? '', { config, client, tools: services }));
}
