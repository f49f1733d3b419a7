/**
 * Asks the captcha service whether a token proves a person. Every doubt counts as no: a request never passes because the
 * service is slow, away or answers nonsense.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import type { Egress } from '../../shared/egress/egress.ts';
import { postLimited } from '../../shared/egress/post-limited.ts';
import { observeCall } from '../../shared/external-call.ts';
import { isObject, parseJson } from '../../shared/json.ts';
import type { Observe } from '../../shared/observation.ts';
import { AuthError } from '../model/auth-error.ts';
import { createConcurrencyLimit } from './concurrency-limit.ts';

/** Limits of the requests to the service. */
export const captchaLimits = {
  /** For one request, including the wait for its turn. */
  timeoutMs: 5000,
  /** Requests at once: a service that hangs must not hold a connection for each sign-in. */
  concurrency: 50,
  maxAnswerBytes: 65_536,
  /** Longest token in characters, several times those of the services. */
  maxTokenLength: 16_384,
};

/** Where each service verifies tokens. */
const services = {
  hcaptcha: 'https://api.hcaptcha.com/siteverify',
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
} as const satisfies Record<AuthConfig['security_captcha_provider'], string>;

interface CaptchaProof {
  /** Null for none. */
  readonly token: string | null;
  /** The client's IP address; null if unknown. */
  readonly ip: string | null;
}

/** Passes if the token is valid. @throws AuthError `captcha_failed`; `unexpected_failure` without an answer. */
export type CheckCaptcha = (config: AuthConfig, proof: CaptchaProof) => Promise<void>;

interface CaptchaParts {
  readonly egress: Egress;
  readonly observe: Observe;
  readonly limits?: typeof captchaLimits;
}

/** Makes the check of a process. */
export function createCaptchaCheck({ egress, observe, limits = captchaLimits }: CaptchaParts): CheckCaptcha {
  const limit = createConcurrencyLimit(limits.concurrency, () => failure(new Error('too many wait for the service')));
  return async (config, { token, ip }) => {
    const response = token?.trim() ?? '';
    if (response === '') throw refusal(['no captcha_token found']);
    if (response.length > limits.maxTokenLength) throw refusal(['invalid-input-response']);
    const url = config.security_captcha_url || services[config.security_captcha_provider];
    const form = { secret: config.security_captcha_secret?.trim() ?? '', response, ...(ip && { remoteip: ip }) };
    const signal = AbortSignal.timeout(limits.timeoutMs);
    const ask = async () => {
      const answer = await postLimited(url, {
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
        body: new URLSearchParams(form).toString(),
        signal,
        maxBytes: limits.maxAnswerBytes,
        fetch: egress.fetchFor(url),
      });
      judge(answer, observe);
    };
    const call = { service: 'captcha', name: config.security_captcha_provider } as const;
    const outcomeOf = (error: unknown) => (error instanceof CaptchaRefusal ? 'refused' : 'failed');
    const observed = () => observeCall(observe, call, ask, outcomeOf);
    await limit(observed, performance.now() + limits.timeoutMs).catch((error: unknown) => {
      throw error instanceof AuthError ? error : failure(error);
    });
  };
}

/** The service works, and does not accept the token of the person. */
class CaptchaRefusal extends AuthError {}

/** @throws AuthError unless the captcha was solved. */
function judge(answer: Awaited<ReturnType<typeof postLimited>>, observe: Observe): void {
  const verdict = parseJson(answer.text);
  if (!isObject(verdict)) throw failure(new Error(`the service answered ${answer.status} without a JSON object`));
  if (answer.status === 200 && verdict.success === true) return;
  const codes = errorCodes(verdict);
  if (!codes.some((code) => code.endsWith('-secret'))) throw refusal(codes, CaptchaRefusal);
  const message = `The captcha service refuses requests: ${codes.join(', ')}.`;
  observe({ kind: 'warning', message, hint: 'Check security_captcha_secret and security_captcha_provider.' });
  throw refusal(codes);
}

/** The service's codes go to the client and the log: short words only. */
function errorCodes(verdict: Readonly<Record<string, unknown>>): readonly string[] {
  const codes = verdict['error-codes'];
  const words = Array.isArray(codes) ? codes : [];
  return words.filter((code): code is string => typeof code === 'string' && /^[\w-]{1,50}$/.test(code)).slice(0, 10);
}

function refusal(codes: readonly string[], Kind = AuthError): AuthError {
  return new Kind('captcha_failed', `captcha protection: request disallowed (${codes.join(', ')})`);
}

function failure(cause: unknown): AuthError {
  return new AuthError('unexpected_failure', 'captcha verification process failed', { cause });
}
