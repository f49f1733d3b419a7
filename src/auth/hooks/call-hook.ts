/**
 * Calls the configured hooks, by webhook or function, and reads their answers.
 *
 * A hook refuses with `{"error": {"http_code", "message"}}`, which the client sees. Any other problem is a failure,
 * with a reason for the log. A hook that could not be called never counts as consent.
 */
import type { HookName, HookValues } from '../../config/auth/auth-hook-fields.ts';
import { parseHookTarget, parseWebhookSecrets } from '../../config/auth/hook-target.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import type { Clock } from '../../shared/clock.ts';
import { type Egress, unrestrictedEgress } from '../../shared/egress/egress.ts';
import { observeCall } from '../../shared/external-call.ts';
import { isObject, parseJson } from '../../shared/json.ts';
import type { Observe } from '../../shared/observation.ts';
import { callFunction, type FunctionLimits, functionLimits } from './call-function.ts';
import { HookError } from './hook-error.ts';
import { postWebhook, type WebhookAnswer, type WebhookLimits, webhookLimits } from './post-webhook.ts';

/** A JSON object. */
export type HookAnswer = Readonly<Record<string, unknown>>;

interface HookCall {
  readonly name: HookName;
  readonly config: HookValues;
  readonly payload: unknown;
  /** Of the webhook's request; a new one without it. */
  readonly id?: string;
}

/** Calls hooks. */
export interface Hooks {
  /**
   * Calls an enabled hook.
   *
   * @param tx The transaction of the request, in which a function runs. Null: in its own.
   * @returns Its answer; empty if it has none.
   * @throws HookError; DatabaseError if the connection is lost.
   */
  ask(tx: Queryable | null, call: HookCall): Promise<HookAnswer>;
}

interface HookParts {
  /** For functions called outside a transaction. */
  readonly database: Pick<SystemPool, 'transaction'>;
  readonly clock: Clock;
  readonly observe: Observe;
  /** Hosts that webhooks may be at; default: any. */
  readonly egress?: Egress;
  /** Default limits apply if absent. */
  readonly limits?: { readonly webhook?: WebhookLimits; readonly function?: FunctionLimits };
}

/** Whether the hook calls another server, which may be slow: do not hold a connection that others wait for. */
export function isWebhook(name: HookName, config: HookValues): boolean {
  return config[`hook_${name}_enabled`] && /^https?:/i.test(config[`hook_${name}_uri`] ?? '');
}

/** Makes the `Hooks`. */
export function createHooks(parts: HookParts): Hooks {
  return {
    async ask(tx, call) {
      try {
        const outcomeOf = (error: unknown) =>
          error instanceof HookError && error.reason === null ? 'refused' : 'failed';
        const ask = async () => readAnswer(await askTarget(parts, tx, call));
        return await observeCall(parts.observe, { service: 'hook', name: call.name }, ask, outcomeOf);
      } catch (error) {
        const reason = error instanceof HookError ? error.reason : null;
        if (reason !== null) parts.observe({ kind: 'hook_failed', hook: call.name, reason });
        throw error;
      }
    },
  };
}

async function askTarget(parts: HookParts, tx: Queryable | null, call: HookCall): Promise<unknown> {
  const { clock, database, limits = {}, egress = unrestrictedEgress } = parts;
  const { payload, id } = call;
  const target = readField(call, 'uri', parseHookTarget);
  if (target.kind === 'webhook') {
    const webhook = { url: target.url, keys: readField(call, 'secrets', parseWebhookSecrets) };
    const message = { webhook, payload, id, clock, egress, limits: limits.webhook ?? webhookLimits };
    return parseBody(await postWebhook(message));
  }
  const run = (own: Queryable) => callFunction(own, { target, payload, limits: limits.function ?? functionLimits });
  return tx === null ? database.transaction(run) : run(tx);
}

function readField<T>({ name, config }: HookCall, field: 'uri' | 'secrets', parse: (text: string) => T): T {
  try {
    return parse(config[`hook_${name}_${field}`] ?? '');
  } catch (error) {
    const reason = `hook_${name}_${field} ${(error as Error).message}`;
    throw new HookError('unexpected_failure', 'Hook is not configured', { reason });
  }
}

/** Maps a webhook's status as Supabase Auth does. Null: nothing to read. */
function parseBody({ status, headers, text }: WebhookAnswer): unknown {
  if (status === 204) return null;
  if (status !== 200 && status !== 202) throw refusedStatus(status);
  const type = headers.get('content-type');
  if (type?.split(';')[0]?.trim().toLowerCase() !== 'application/json') {
    const message = 'Invalid JSON response. The hook has to answer with Content-Type application/json';
    throw new HookError('hook_payload_invalid_content_type', message, { reason: 'its answer is not application/json' });
  }
  if (text === '') return null;
  const json = parseJson(text);
  if (json === undefined) throw unreadable('its answer is not JSON');
  return json;
}

const statusTexts: Readonly<Record<number, string>> = {
  400: 'Invalid payload sent to hook',
  401: 'Hook requires authorization token',
  429: 'Service currently unavailable due to hook',
  503: 'Service currently unavailable due to hook',
};

function refusedStatus(status: number): HookError {
  const message = statusTexts[status] ?? `Unexpected status code returned from hook: ${status}`;
  return new HookError('unexpected_failure', message, { reason: `it answered ${status}` });
}

function unreadable(reason: string): HookError {
  return new HookError('unexpected_failure', 'Error unmarshaling JSON output of hook', { reason });
}

/** Longest passed-on refusal message, in characters. */
const maxMessageLength = 1000;

function readAnswer(answer: unknown): HookAnswer {
  if (answer === null) return {};
  if (!isObject(answer)) throw unreadable('its answer is not a JSON object');
  const { error } = answer;
  if (error === undefined || error === null) return answer;
  if (!isObject(error)) throw unreadable('field "error" of its answer is not an object');
  const { http_code: code, message } = error;
  if (message !== undefined && typeof message !== 'string') {
    throw unreadable('field "message" of its error is not a text');
  }
  // An empty error means none: functions fill it in only when they refuse.
  if (!message && !code) return answer;
  const isStatus = typeof code === 'number' && Number.isInteger(code) && code >= 400 && code <= 599;
  const status = isStatus ? code : 500;
  const text = message?.slice(0, maxMessageLength) || 'Refused by a hook';
  throw new HookError(status === 500 ? 'unexpected_failure' : 'unknown', text, { reason: null, status });
}
