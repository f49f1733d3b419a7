/** Builds the auth service of a process from the configuration, with all that its requests need. */
import type { AuthConfig } from '../config/auth/auth-config.ts';
import type { Config } from '../config/config.ts';
import { deriveKeys } from '../config/keys.ts';
import { createEventReceiver } from '../email/events/receive-events.ts';
import { OutboxWorker } from '../email/outbox/outbox-worker.ts';
import { createInbox, type Inbox } from '../email/transport/inbox.ts';
import { createMailer } from '../email/transport/mailer.ts';
import type { OwnPool } from '../postgres/migrations/own-pool.ts';
import type { RepeatedWork } from '../postgres/system/repeated-work.ts';
import { createSystemPool, type SystemPool } from '../postgres/system/run-system.ts';
import { loginOf } from '../postgres/wire/login.ts';
import type { Clock } from '../shared/clock.ts';
import type { Egress } from '../shared/egress/egress.ts';
import { finishesWithin } from '../shared/finishes-within.ts';
import type { Observe } from '../shared/observation.ts';
import { type Tracer, untraced } from '../shared/trace/span.ts';
import { Background } from './background.ts';
import { createHooks } from './hooks/call-hook.ts';
import { createHookSender } from './messages/send-by-hook.ts';
import { sendTestEmail } from './messages/send-now.ts';
import { AuthError } from './model/auth-error.ts';
import { createIssuers } from './providers/issuers.ts';
import { createProviderSignIn } from './providers/provider-sign-in.ts';
import type { VerifyClaims } from './rules/bearer.ts';
import { createCaptchaCheck } from './rules/captcha.ts';
import { createConcurrencyLimit } from './rules/concurrency-limit.ts';
import { createRedirectNotes } from './rules/redirect-notes.ts';
import { createPwnedCheck } from './secrets/leaked-passwords.ts';
import { createPasswordHasher, type PasswordHasher } from './secrets/passwords.ts';
import type { TokenSigner } from './secrets/signing-keys.ts';
import { createSendText } from './sms/send-text.ts';
import type { AuthServices } from './steps/auth-context.ts';
import { createCleanUpWork } from './store/clean-up.ts';
import { createRateLimiter } from './store/rate-limit.ts';

/** The parts that the service is built from. */
export interface AuthSetup {
  readonly config: Config;
  /** Public address of the service, without a slash at the end. */
  readonly authUrl: string;
  readonly inboxUrl: string;
  /** Connections as the owner of the auth tables; the caller stops them. */
  readonly database: OwnPool;
  readonly verify: VerifyClaims;
  readonly signer: TokenSigner;
  /** The hosts that the service may call. */
  readonly egress: Egress;
  /** Returns the current auth configuration, as a new request would see it. */
  readonly currentConfig: () => Promise<AuthConfig>;
  readonly configVersion: () => number;
  readonly clock: Clock;
  readonly observe: Observe;
  /** Default: nothing is recorded. */
  readonly tracer?: Tracer;
  /** Default: a hasher with full cost. */
  readonly hasher?: PasswordHasher | undefined;
  /** As in `AuthServices`. */
  readonly minRefusalMs?: number | undefined;
  readonly onLost: (problem: Error) => void;
}

/** The running service. */
export interface Auth {
  readonly services: AuthServices;
  readonly inbox: Inbox;
  /** Whether the database has the auth tables and our login may use them. @throws DatabaseError */
  isInstalled(): Promise<boolean>;
  stop(): Promise<void>;
}

/** Connections for writes beside a request's own transaction: counts, and captured messages. */
const sidePoolSize = 2;

/** Longest wait for running work when the service stops, in milliseconds; for each worker and each email. */
const stopLimitMs = 2000;

/** Longer than most imported password hashes take. */
const defaultMinRefusalMs = 1000;

/** Admin role in addition to the service role, as in Supabase Auth. */
const adminRole = 'supabase_admin';

/** Starts the service; connects on first use. */
export function startAuth(setup: AuthSetup): Auth {
  const { config, authUrl, inboxUrl, database, verify, signer, egress, clock, observe, tracer = untraced } = setup;
  const side = openSidePool(setup);
  const { allowUnencryptedMail: allowUnencrypted } = config;
  const mailer = createMailer({ database: side, authUrl, inboxUrl, observe, clock, egress, allowUnencrypted });
  const isInstalled = createInstalledCheck(database);
  const { currentConfig, configVersion } = setup;
  const hooks = createHooks({ database, clock, observe, egress });
  const outbox = new OutboxWorker({
    sendByHook: createHookSender(hooks),
    database: side,
    mailer,
    currentConfig,
    configVersion,
    isInstalled,
    clock,
    observe,
    tracer,
  });
  const background = new Background(observe, overloaded);
  const services: AuthServices = {
    clock,
    database,
    limitWaiting: createConcurrencyLimit(Math.floor(config.authPoolSize / 2), overloaded, config.poolWaitMs),
    limiter: createRateLimiter(side, () => clock.now()),
    requestLimiter: createRateLimiter(database, () => clock.now()),
    checkCaptcha: createCaptchaCheck({ egress, observe }),
    hasher: setup.hasher ?? createPasswordHasher(),
    isPwned: createPwnedCheck({ address: config.leakedPasswordsUrl, clock, observe }),
    signer,
    verify,
    mailer,
    outbox,
    sendTestEmail: (settings, message) => sendTestEmail({ mailer, outbox }, settings, message),
    receiveEvents: createEventReceiver({ database, egress, clock }),
    sendText: createSendText({ clock, database: side, observe, egress }),
    providers: createProviderSignIn(createIssuers(egress), clock, observe),
    hooks,
    linkKeys: () => deriveKeys(config, 'emailed links'),
    get issuer() {
      return config.jwtIssuer ?? authUrl;
    },
    get audience() {
      return config.jwtAud?.[0] ?? 'authenticated';
    },
    userRole: config.authenticatedRole,
    adminRoles: [config.serviceRole, adminRole],
    roleClaim: config.jwtRoleClaim,
    isLocalProject: config.localProject,
    observe,
    noteRedirect: createRedirectNotes(observe),
    background,
    minRefusalMs: setup.minRefusalMs ?? defaultMinRefusalMs,
  };
  const cleaner = createCleaner(setup, isInstalled);
  outbox.start();
  if (config.cleanUpMs > 0) cleaner.start();
  const stop = async () => {
    // Work that does not end in time is cut with its connections. The next process sends an interrupted email again.
    await finishesWithin(stopLimitMs, Promise.all([outbox.stop(), cleaner.stop(), background.stop()]));
    await finishesWithin(stopLimitMs, mailer.stop());
    await side.stop();
  };
  return { services, inbox: createInbox(database), isInstalled, stop };
}

function createCleaner(
  { config, database, currentConfig, clock, observe }: AuthSetup,
  isInstalled: () => Promise<boolean>,
): RepeatedWork {
  return createCleanUpWork({
    database,
    currentConfig,
    isInstalled,
    clock,
    observe,
    everyMs: config.cleanUpMs,
    deleteAnonymousUsers: config.cleanUpAnonymousUsers,
  });
}

function openSidePool({ config, database, observe, onLost }: AuthSetup): SystemPool {
  const pool = createSystemPool({
    connectionString: loginOf(config, 'adminDatabaseUrl'),
    size: sidePoolSize,
    waitMs: config.poolWaitMs,
    applicationName: 'pgreflect auth side',
    preparedStatements: config.preparedStatements,
    primaryOnly: true,
    onPreparedOff: () => observe({ kind: 'prepared_statements_off' }),
    onError: onLost,
  });
  return database.guard(pool);
}

function overloaded(): AuthError {
  const message = 'The service cannot be reached at the moment, please retry after a moment.';
  return new AuthError('unexpected_failure', message, { status: 503, retryAfterSeconds: 1 });
}

/** Checks with every request until the login may use the tables; then remembers that. */
function createInstalledCheck(database: OwnPool): () => Promise<boolean> {
  let isThere = false;
  return async () => {
    if (!(await database.isOurs())) return false;
    if (isThere) return true;
    const [row] = await database.query(
      `select pg_catalog.count(*) = 2 as there
      from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'auth' and c.relname in ('users', 'pgreflect_rate_limits')
        and pg_catalog.has_schema_privilege(n.oid, 'usage') and pg_catalog.has_table_privilege(c.oid, 'insert')`,
    );
    isThere = row?.there === true;
    return isThere;
  };
}
