/**
 * Sign-in with the ID token of a provider: refused, as where the provider is switched off.
 */
import { AuthError, OAuthStyleError } from '../auth-error.ts';
import type { Flow } from './flow.ts';
import { type BodyShape, readMembers } from './members.ts';

const issuers: Readonly<Record<string, string>> = {
  google: 'https://accounts.google.com',
  apple: 'https://appleid.apple.com',
};

/** Members of the body. */
export const idTokenBody = {
  provider: 'text',
  id_token: 'text',
  client_id: 'text',
  issuer: 'text',
} as const satisfies BodyShape;

/** `POST /token?grant_type=id_token`. @throws Always. */
export async function refuseIdToken(_flow: Flow, body: unknown): Promise<never> {
  const members = readMembers(body, idTokenBody);
  if (!members.id_token) throw new OAuthStyleError('invalid request', 'id_token required');
  if (!members.provider && (!members.client_id || !members.issuer)) {
    throw new OAuthStyleError('invalid request', 'provider or client_id and issuer required');
  }
  const name = members.provider || members.issuer || '';
  const issuer = (issuers[name] ?? name).slice(0, 200);
  throw new AuthError('provider_disabled', `Provider (issuer "${issuer}") is not enabled`);
}
