/**
 * What every request to the auth service is run with: the services of the process, and the facts of one request.
 *
 * A file in `requests/` takes checked members and an `AuthContext`, does its work in one transaction, and returns what the answer
 * says or throws an `AuthError`. Nothing in these files knows of HTTP.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import type { HookName } from '../../config/auth/auth-hook-fields.ts';
import type { Outbox } from '../../email/outbox/outbox-worker.ts';
import type { Mailer } from '../../email/transport/mailer.ts';
import { type Hooks, isWebhook } from '../../hooks/hooks.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import type { Observe } from '../../shared/observation.ts';
import { AuthError, type AuthErrorCode } from '../auth-error.ts';
import type { VerifyClaims } from '../bearer.ts';
import type { ConcurrencyLimit } from '../concurrency-limit.ts';
import type { ProviderSignIn } from '../providers/provider-sign-in.ts';
import type { IsPwned } from '../secrets/leaked-passwords.ts';
import type { PasswordHasher } from '../secrets/passwords.ts';
import type { TokenSigner } from '../secrets/signing-keys.ts';
import type { RateLimiter } from '../store/rate-limit.ts';
import type { ClientOrigin } from '../store/sessions.ts';
import type { SendText } from '../texts/text-provider.ts';
import type { StoreTransaction, Tools } from '../tools.ts';

/** What all requests share; one for a process. */
export interface AuthServices extends Tools {
  /** Connections of the owner of the auth tables. */
  readonly database: SystemPool;
  /** Bounds the transactions that wait for another server. */
  readonly limitWaiting: ConcurrencyLimit;
  /** Counts on connections of its own: it is asked while a transaction holds one. */
  readonly limiter: RateLimiter;
  /** Counts requests before they begin, in the round trip of the look at the configuration. */
  readonly requestLimiter: RateLimiter;
  readonly hasher: PasswordHasher;
  readonly isPwned: IsPwned;
  readonly signer: TokenSigner;
  readonly verify: VerifyClaims;
  readonly mailer: Pick<Mailer, 'deliver'>;
  /** Sends after the commit what a request has added to it. */
  readonly outbox: Outbox;
  readonly sendText: SendText;
  readonly hooks: Hooks;
  readonly providers: ProviderSignIn;
  /** Claim `iss` of the tokens. */
  readonly issuer: string;
  /** Audience of users, where the request names none. */
  readonly audience: string;
  /** Database role of new users. */
  readonly userRole: string;
  /** Roles that a token of an admin may have. */
  readonly adminRoles: readonly string[];
  readonly observe: Observe;
  /** Whoever reads the log is the one who asks. */
  readonly localProject: boolean;
}

/** One request. */
export interface AuthContext {
  readonly services: AuthServices;
  /** The configuration as it was when the request arrived. */
  readonly config: AuthConfig;
  readonly client: ClientOrigin;
  /** Audience in which users are looked up. */
  readonly audience: string;
  /** Where links of this request lead; resolved by the rules for redirects. */
  readonly redirectTo: string;
  /** Public address of the auth service for links of this request, without a slash at the end. */
  readonly authUrl: string;
  /** Of `performance.now()`: nothing is written after it. */
  readonly deadline: number;
}

/** One request in its transaction. */
export interface Transaction extends AuthContext, StoreTransaction {}

/** A statement that goes on so long after its time limit has caught it, and is ended with its connection. In milliseconds. */
const graceMs = 1000;

/**
 * Runs `run` in a transaction, and undoes it when the request has run out of time: an answer that says so must be true.
 *
 * @param asks What `run` may ask, a hook or whoever sends messages in its place. Where that is another server, which may be
 *   slow, the transaction is one of few that wait at once: others always find a connection.
 * @throws AuthError `request_timeout`, `unexpected_failure` (503) where too many wait, besides what `run` throws.
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
  const { database, outbox, clock, random } = context.services;
  const leftMs = timeLeftMs(context);
  const options = { settings: { statement_timeout: String(leftMs) }, answerWithinMs: leftMs + graceMs };
  let tx: Transaction | null = null;
  const result = await database.transaction(async (queryable) => {
    let isOver = false;
    tx = {
      ...{ ...context, clock, random },
      query(text, values) {
        // What was begun beside work that has failed may still go on; the connection is somebody else's by then.
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

/** Milliseconds that the request may still take, 1 at least. @throws AuthError `request_timeout` */
export function timeLeftMs({ deadline }: AuthContext): number {
  const leftMs = deadline - performance.now();
  if (leftMs <= 0) throw new AuthError('request_timeout');
  return Math.max(1, Math.floor(leftMs));
}

/** The time of the service's clock, in milliseconds since the epoch. */
export function nowOf({ services }: AuthContext): number {
  return services.clock.now();
}

const taken: readonly AuthErrorCode[] = ['email_exists', 'phone_exists', 'identity_already_exists'];

/**
 * Runs a transaction, and once more where it met somebody who has just taken the address, the number or the identity.
 *
 * @throws What the second attempt throws.
 */
export async function onceMore<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof AuthError) || !taken.includes(error.code)) throw error;
    return attempt();
  }
}
