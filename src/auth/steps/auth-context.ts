/**
 * What every request to the auth service is run with: the services of the process, and the facts of one request.
 *
 * A file in `requests/` takes checked members and an `AuthContext`, does its work in one transaction, and returns what the answer
 * says or throws an `AuthError`. Nothing in these files knows of HTTP.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import type { Outbox } from '../../email/outbox/outbox-worker.ts';
import type { Mailer } from '../../email/transport/mailer.ts';
import type { Hooks } from '../../hooks/hooks.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import type { Observe } from '../../shared/observation.ts';
import { AuthError } from '../auth-error.ts';
import type { VerifyClaims } from '../bearer.ts';
import type { SendText } from '../messages/text-message.ts';
import type { ProviderSignIn } from '../providers/provider-sign-in.ts';
import type { IsPwned } from '../secrets/leaked-passwords.ts';
import type { PasswordHasher } from '../secrets/passwords.ts';
import type { TokenSigner } from '../secrets/signing-keys.ts';
import type { RateLimiter } from '../store/rate-limit.ts';
import type { ClientOrigin } from '../store/sessions.ts';
import type { Tools } from '../tools.ts';

/** What all requests share; one for a process. */
export interface AuthServices extends Tools {
  /** Connections of the owner of the auth tables. */
  readonly database: SystemPool;
  /** As `database`, for transactions that wait for another server; see `transactSending`. */
  readonly sendingDatabase: SystemPool;
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

/**
 * Runs `run` in a transaction, and undoes it when the request has run out of time: an answer that says so must be true.
 *
 * @throws AuthError `request_timeout`, besides what `run` throws.
 */
export function transact<T>(context: AuthContext, run: Work<T>): Promise<T> {
  return transactOn(context.services.database, context, run);
}

/**
 * As `transact`, for work that may send a message or ask a webhook: it holds its connection until that server has answered.
 * Such work has connections of its own, so that a slow server holds up nothing but more of it.
 */
export function transactSending<T>(context: AuthContext, run: Work<T>): Promise<T> {
  return transactOn(context.services.sendingDatabase, context, run);
}

/** A statement that goes on so long after its time limit has caught it, and is ended with its connection. In milliseconds. */
const graceMs = 1000;

type Work<T> = (session: Queryable) => Promise<T>;

async function transactOn<T>(pool: SystemPool, context: AuthContext, run: Work<T>): Promise<T> {
  const leftMs = timeLeftMs(context);
  const options = { settings: { statement_timeout: String(leftMs) }, answerWithinMs: leftMs + graceMs };
  let inTime: Queryable | null = null;
  const runInTime: Work<T> = async (session) => {
    let isOver = false;
    inTime = {
      query(text, values) {
        // What was begun beside work that has failed may still go on; the connection is somebody else's by then.
        if (isOver) throw new AuthError('unexpected_failure');
        timeLeftMs(context);
        return session.query(text, values);
      },
      noteUserCode: () => session.noteUserCode?.(),
    };
    try {
      const result = await run(inTime);
      timeLeftMs(context);
      return result;
    } finally {
      isOver = true;
    }
  };
  const result = await pool.transaction(runInTime, options);
  if (inTime !== null) context.services.outbox.committed(inTime);
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
