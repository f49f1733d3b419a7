/**
 * A provider of OpenID Connect that says whatever a test wants: with good keys and bad claims, or with none.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { atEnd } from './when-over.ts';

/** The running provider. */
export interface LyingProvider {
  readonly issuer: string;
  /** What it answers, by path; a function is asked each time. With `status` and `body`: an error. A test changes what it needs. */
  readonly answers: Record<string, unknown>;
  /** Paths that were asked for, oldest first. */
  readonly asked: string[];
  /** An ID token with its key: good for an hour, except for what is given. */
  sign(claims: JWTPayload, header?: { readonly alg?: string; readonly kid?: string }): Promise<string>;
  /** The same without a signature. */
  pretend(claims: JWTPayload): string;
}

interface Refusal {
  readonly status: number;
  readonly body: object;
}

const isRefusal = (answer: unknown): answer is Refusal =>
  typeof answer === 'object' && answer !== null && 'status' in answer && 'body' in answer;

/** Starts it; stopped after the test file. */
export async function startLyingProvider(audience: string): Promise<LyingProvider> {
  const answers: Record<string, unknown> = {};
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    asked.push(path);
    const answer = answers[path];
    const body = typeof answer === 'function' ? answer() : answer;
    if (body === undefined) return void response.writeHead(404).end();
    const { status, sent } = isRefusal(body) ? { status: body.status, sent: body.body } : { status: 200, sent: body };
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof sent === 'string' ? sent : JSON.stringify(sent));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => void server.close().closeAllConnections());
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  answers['/jwks'] = { keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }] };
  answers['/.well-known/openid-configuration'] = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    id_token_signing_alg_values_supported: ['ES256'],
    token_endpoint_auth_methods_supported: ['client_secret_post'],
  };
  const now = () => Math.floor(Date.now() / 1000);
  const complete = (claims: JWTPayload) => ({ iss: issuer, aud: audience, iat: now(), exp: now() + 3600, ...claims });
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return {
    issuer,
    answers,
    asked,
    sign: (claims, { alg = 'ES256', kid = 'one' } = {}) =>
      new SignJWT(complete(claims)).setProtectedHeader({ alg, kid }).sign(
        // With a shared secret the public key is what everybody has.
        alg.startsWith('HS') ? new TextEncoder().encode(JSON.stringify(answers['/jwks'])) : privateKey,
      ),
    pretend: (claims) => `${encode({ alg: 'none' })}.${encode(complete(claims))}.`,
  };
}

/** The configuration that makes it Google, for an application of the name `web`. */
export function googleValues({ issuer }: Pick<LyingProvider, 'issuer'>): AuthValues {
  return {
    external_google_enabled: true,
    external_google_url: issuer,
    external_google_client_id: 'web',
    external_google_secret: 'secret',
  };
}
