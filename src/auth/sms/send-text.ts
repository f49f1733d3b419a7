/**
 * Sends text messages through the configured sender: the inbox, a provider's API, or a webhook of the operator.
 *
 * The time limit is shorter than that of a request: if a provider is down, the request fails in time and is rolled
 * back.
 */
import { randomUUID } from 'node:crypto';
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { checkSmsProvider, type SmsProvider } from '../../config/auth/auth-sms-fields.ts';
import { parseWebhookSecrets } from '../../config/auth/hook-target.ts';
import { renderTemplate } from '../../email/engine/template.ts';
import { TemplateError } from '../../email/engine/template-error.ts';
import { cachedTemplate } from '../../email/message/template-cache.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import type { Clock } from '../../shared/clock.ts';
import { type Egress, unrestrictedEgress } from '../../shared/egress/egress.ts';
import { PostError, type PostFailure, postLimited } from '../../shared/egress/post-limited.ts';
import { observeCall } from '../../shared/external-call.ts';
import { parseJson } from '../../shared/json.ts';
import type { Observe } from '../../shared/observation.ts';
import { toRfc3339, toTimestamp } from '../../shared/times.ts';
import { HookError } from '../hooks/hook-error.ts';
import { postWebhook, type WebhookLimits, webhookLimits } from '../hooks/post-webhook.ts';
import { AuthError } from '../model/auth-error.ts';
import type { SendText } from './sms-provider.ts';
import { fieldAt, type OutgoingText, TextError } from './sms-provider.ts';
import { type FormProvider, textProviders } from './sms-providers.ts';

interface SendTextParts {
  readonly clock: Clock;
  /** Connections that waiting requests do not hold. */
  readonly database: Queryable;
  readonly observe: Observe;
  /** Hosts that it may call; default: any. */
  readonly egress?: Egress;
  /** Limits of requests to providers; defaults apply if absent. */
  readonly limits?: WebhookLimits;
}

/** Makes the sender of text messages. */
export function createSendText(parts: SendTextParts): SendText {
  return async ({ to, code, channel, template, config }) => {
    const { sms_provider: provider } = config;
    if (provider === null) return null;
    assertUsable(provider, config);
    try {
      const text = { to, text: render(template, code), code, channel };
      if (provider === 'capture') return await captureText(parts, text);
      const send = () => hand(parts, provider, config, text);
      return await observeCall(parts.observe, { service: 'text', name: provider }, send);
    } catch (error) {
      if (error instanceof TextError) parts.observe({ kind: 'text_not_sent', provider, reason: error.message });
      throw error;
    }
  };
}

/** @throws AuthError `unexpected_failure`; the log says what to change. */
function assertUsable(provider: SmsProvider, config: AuthConfig): void {
  const problem = checkSmsProvider(provider, config);
  if (problem === null) return;
  throw new AuthError('unexpected_failure', 'Unable to get SMS provider', { cause: new Error(problem) });
}

/** @throws TextError */
function render(template: string, code: string): string {
  try {
    return renderTemplate(cachedTemplate(template, { kind: 'text' }), { Code: code });
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new TextError('the message template is invalid', { cause: error });
  }
}

function hand(
  parts: SendTextParts,
  provider: Exclude<SmsProvider, 'capture'>,
  config: AuthConfig,
  text: OutgoingText,
): Promise<string> {
  switch (provider) {
    case 'webhook':
      return postToWebhook(parts, config, text);
    case 'twilio_verify':
      throw new TextError('the provider is not supported');
    default:
      return postToProvider(parts, provider, config, text);
  }
}

async function postToProvider(
  { limits = webhookLimits, egress = unrestrictedEgress }: SendTextParts,
  name: FormProvider,
  config: AuthConfig,
  text: OutgoingText,
): Promise<string> {
  const provider = textProviders[name];
  const { path, authorization, form } = provider.toRequest(text, config);
  const base = (config.sms_provider_url ?? provider.url).replace(/(?<!\/)\/+$/, '');
  const answer = await postLimited(`${base}${path}`, {
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      ...(authorization === null ? {} : { authorization }),
    },
    body: new URLSearchParams(form).toString(),
    signal: AbortSignal.timeout(limits.timeoutMs),
    maxBytes: limits.maxAnswerBytes,
    fetch: egress.fetchFor(base),
  }).catch((error: unknown) => {
    throw error instanceof PostError ? new TextError(failures[error.failure]) : error;
  });
  const verdict = provider.read(parseJson(answer.text));
  if (verdict.kind === 'taken' && answer.status < 300) return verdict.id;
  const code = verdict.kind === 'refused' && verdict.code !== null ? verdict.code : `HTTP ${answer.status}`;
  throw new TextError(`${name} rejected the message (${code})`);
}

const failures: Readonly<Record<PostFailure, string>> = {
  timed_out: 'the provider did not answer in time',
  unreachable: 'the provider is unreachable',
  too_large: 'the response of the provider is too large',
};

/** @returns The receiver's id of the message, or our own. */
async function postToWebhook(
  { clock, limits = webhookLimits, egress = unrestrictedEgress }: SendTextParts,
  config: AuthConfig,
  { to, text, code, channel }: OutgoingText,
): Promise<string> {
  const webhook = {
    url: config.sms_webhook_url ?? '',
    keys: parseWebhookSecrets(config.sms_webhook_secrets ?? ''),
  };
  const data = { to: `+${to}`, message: text, code, channel };
  const payload = { type: 'text_message.requested', timestamp: toRfc3339(clock.now()), data };
  const answer = await postWebhook({ webhook, payload, clock, limits, egress }).catch((error: unknown) => {
    throw error instanceof HookError ? new TextError(`the webhook failed: ${error.reason}`) : error;
  });
  if (answer.status >= 300) throw new TextError(`the webhook rejected the message (HTTP ${answer.status})`);
  const id = fieldAt(parseJson(answer.text), 'message_id');
  return typeof id === 'string' && id !== '' ? id : answer.id;
}

/** Stores a message in the inbox. @returns Its id. */
async function captureText({ database, clock }: SendTextParts, { to, text }: OutgoingText): Promise<string> {
  await database.query(
    `insert into auth.pgreflect_captured_email (captured_at, kind, sender, recipient, subject, html, text, source)
    values ($1::timestamptz, 'sms', '', $2, $3, '', $3, $3)`,
    [toTimestamp(clock.now()), to, text.replaceAll('\0', '')],
  );
  return randomUUID();
}
