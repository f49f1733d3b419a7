/**
 * The context of every auth request: the services of the process and the facts of one request.
 *
 * A file in `requests/` takes checked fields and an `AuthContext`, does its work in one transaction, and returns the
 * content of the answer or throws an `AuthError`. These files know nothing of HTTP.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import type { HookName } from '../../config/auth/auth-hook-fields.ts';
import type { ReceiveEvents } from '../../email/events/receive-events.ts';
import type { EmailMessage } from '../../email/message/message.ts';
import type { Outbox } from '../../email/outbox/outbox-worker.ts';
import type { Mailer } from '../../email/transport/mailer.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Observe } from '../../shared/observation.ts';
import type { Background } from '../background.ts';
import { type Hooks, isWebhook } from '../hooks/call-hook.ts';
import { AuthError, type AuthErrorCode } from '../model/auth-error.ts';
import type { ProviderSignIn } from '../providers/provider-sign-in.ts';
import type { VerifyClaims } from '../rules/bearer.ts';
import type { CheckCaptcha } from '../rules/captcha.ts';
import type { ConcurrencyLimit } from '../rules/concurrency-limit.ts';
import type { NoteRedirect } from '../rules/redirect-notes.ts';
import type { IsPwned } from '../secrets/leaked-passwords.ts';
import type { PasswordHasher } from '../secrets/passwords.ts';
import type { TokenSigner } from '../secrets/signing-keys.ts';
import type { SendText } from '../sms/sms-provider.ts';
import { createRateLimiter, type RateLimiter } from '../store/rate-limit.ts';
import type { ClientOrigin } from '../store/sessions.ts';
import type { StoreTransaction } from '../store/transaction.ts';

/** Services that all requests share; one per process. */
export interface AuthServices {
  readonly clock: Clock;
  /** Connections as the owner of the auth tables. */
  readonly database: SystemPool;
  /** Limits the transactions that wait for another server. */
  readonly limitWaiting: ConcurrencyLimit;
  /** Counts on connections of its own, because a transaction holds one during the call. */
  readonly limiter: RateLimiter;
  /** Counts requests before they start, while the configuration is checked. */
  readonly requestLimiter: RateLimiter;
  readonly checkCaptcha: CheckCaptcha;
  readonly hasher: PasswordHasher;
  readonly isPwned: IsPwned;
  readonly signer: TokenSigner;
  readonly verify: VerifyClaims;
  readonly mailer: Pick<Mailer, 'deliver'>;
  /** Sends after the commit the emails that the request stored. */
  readonly outbox: Outbox;
  /** Sends and lists the test email of an operator. @throws EmailError */
  readonly sendTestEmail: (config: AuthConfig, message: EmailMessage) => Promise<void>;
  /** Receives what mail services tell of emails. */
  readonly receiveEvents: ReceiveEvents;
  readonly sendText: SendText;
  readonly hooks: Hooks;
  readonly providers: ProviderSignIn;
  /** The first stamps the address in emailed links; all read it. */
  readonly linkKeys: () => readonly [Buffer, ...Buffer[]];
  /** The tokens' claim `iss`. */
  readonly issuer: string;
  /** Default audience, for requests that name none. */
  readonly audience: string;
  readonly userRole: string;
  /** Roles that a token of an admin may have. */
  readonly adminRoles: readonly string[];
  /** The claim, or its path, that the GraphQL API reads the role from. */
  readonly roleClaim: string;
  /** As in `Config.localProject`. */
  readonly isLocalProject: boolean;
  readonly observe: Observe;
  readonly noteRedirect: NoteRedirect;
  /** Work that goes on after the answer. */
  readonly background: Pick<Background, 'run'>;
  /** Earliest refusal of a password after its request, in milliseconds, where accounts are hidden. */
  readonly minRefusalMs: number;
}

/** One request. */
export interface AuthContext {
  readonly services: AuthServices;
  /** The configuration as it was when the request arrived. */
  readonly config: AuthConfig;
  readonly client: ClientOrigin;
  /** The client's network, by which requests are counted (`networkOf`). */
  readonly network: string;
  /** Languages of the browser that sends the request, best first, as canonical tags; none for requests of admins. */
  readonly languages: readonly string[];
  /** Audience for looking up users. */
  readonly audience: string;
  /** Redirect target for the links of this request, resolved by the redirect rules. */
  readonly redirectTo: string;
  /** Public address of the auth service for links of this request, without a slash at the end. */
  readonly authUrl: string;
  /** In terms of `performance.now()`: nothing is written after it. */
  readonly deadline: number;
  /** The message of this request is counted already (answer-first.ts). */
  readonly isCounted?: boolean;
}

/** One request in its transaction. */
export interface Transaction extends AuthContext, StoreTransaction {}

/** Extra time for a statement after its time limit, in milliseconds; then its connection is closed. */
const graceMs = 1000;

/**
 * Runs `run` in a transaction. Rolls back if the request exceeds its deadline, because the answer will say that nothing
 * happened.
 *
 * @param asks Hooks that `run` may call, or the senders of messages in their place. Calls to another server may be
 *   slow, so few such transactions run at once; others always find a connection.
 * @throws AuthError `request_timeout`, `unexpected_failure` (503) if too many wait, and the errors of `run`.
 */
export function transact<T>(
  context: AuthContext,
  asks: readonly HookName[],
  run: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const { services, config, deadline } = context;
  const begin = () => transactInTime(context, run);
  return asks.some((name) => mayWait(name, config)) ? services.limitWaiting(begin, deadline) : begin();
}

function mayWait(name: HookName, config: AuthConfig): boolean {
  if (name === 'send_email') return config.mailer_delivery === 'direct';
  if (name === 'send_sms' && !config.hook_send_sms_enabled) return config.sms_provider !== 'capture';
  return isWebhook(name, config);
}

async function transactInTime<T>(context: AuthContext, run: (tx: Transaction) => Promise<T>): Promise<T> {
  const { database, outbox, clock } = context.services;
  const leftMs = timeLeftMs(context);
  const options = { settings: { statement_timeout: String(leftMs) }, answerWithinMs: leftMs + graceMs };
  let tx: Transaction | null = null;
  const result = await database.transaction(async (queryable) => {
    let isOver = false;
    tx = {
      ...context,
      clock,
      query(text, values) {
        // After a failure, work started in parallel may still run, while another request has the connection by then.
        if (isOver) throw new AuthError('unexpected_failure');
        timeLeftMs(context);
        return queryable.query(text, values);
      },
      noteUserCode: () => queryable.noteUserCode?.(),
    };
    try {
      const done = await run(tx);
      timeLeftMs(context);
      return done;
    } finally {
      isOver = true;
    }
  }, options);
  if (tx !== null) outbox.committed(tx);
  return result;
}

/** Milliseconds left until the deadline, at least 1. @throws AuthError `request_timeout` */
export function timeLeftMs({ deadline }: AuthContext): number {
  const leftMs = deadline - performance.now();
  if (leftMs <= 0) throw new AuthError('request_timeout');
  return Math.max(1, Math.floor(leftMs));
}

/** The time of the service's clock, in milliseconds since the epoch. */
export function nowOf({ services }: AuthContext): number {
  return services.clock.now();
}

/** Counts in the transaction: what fails is not counted, and may be tried again at once. */
export function limiterOf(tx: Transaction): RateLimiter {
  return createRateLimiter(tx, () => nowOf(tx));
}

const taken: readonly AuthErrorCode[] = ['email_exists', 'phone_exists', 'identity_already_exists'];

/** Runs a transaction again if another took the address, number or identity. @throws Errors of the second. */
export async function onceMore<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof AuthError) || !taken.includes(error.code)) throw error;
    return attempt();
  }
}
