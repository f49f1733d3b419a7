/**
 * The management API without HTTP (docs/management-api.md): authorization, the configuration, and its changes.
 *
 * Every failure is a `ManagementError`; its `cause`, if any, is for the log.
 */
import { type AuthConfig, layerAuthConfig } from '../config/auth/auth-config.ts';
import { EventRefusal, type EventRequest } from '../email/events/mail-event.ts';
import type { ReceiveEvents } from '../email/events/receive-events.ts';
import type { EmailMessage } from '../email/message/message.ts';
import { SuppressedError } from '../email/outbox/suppressed.ts';
import { EmailError } from '../email/transport/email-error.ts';
import { DatabaseError, isMissingTable } from '../postgres/database-error.ts';
import type { OwnPool } from '../postgres/migrations/own-pool.ts';
import type { SystemPool } from '../postgres/system/run-system.ts';
import type { Clock } from '../shared/clock.ts';
import type { Observe } from '../shared/observation.ts';
import { sameText } from '../shared/same-text.ts';
import type { ToldOfChange } from './change-config.ts';
import type { ConfigSnapshot, ConfigStore } from './config-store.ts';
import { fixedTokenId, type ManagementCaller, masked } from './management-caller.ts';
import { ManagementError } from './management-error.ts';
import { presentConfig } from './present-config.ts';
import type { DigestSecret } from './secret-digest.ts';
import type { DescribedEmail, RenderedDraft, SharedTemplate } from './templates/draft-schemas.ts';
import type { RenderingTime } from './templates/rendering-time.ts';
import { accessScopes, findAccessToken } from './tokens/access-tokens.ts';
import type { TokenRequest } from './tokens/token-requests.ts';
import type { UnknownTokens } from './tokens/unknown-tokens.ts';
import { type ConfigVersion, type EmailsOfVersion, listVersions, readVersion } from './version-history.ts';

/** The configuration as clients see it. */
export type PresentedConfig = Readonly<Record<string, unknown>>;

/** The configuration, and the version of the stored values. */
export interface ReadResult {
  readonly config: PresentedConfig;
  /** Increases with every change; 0 if nothing is stored. */
  readonly version: number;
}

/** A stored change, or one that changed nothing. */
interface ChangeResult extends ReadResult, ToldOfChange {}

/** Sends a message. @throws EmailError */
export type DeliverMessage = (config: AuthConfig, message: EmailMessage) => Promise<unknown>;

interface ManagementOptions {
  /** Connections that may read and write our tables. */
  readonly pool: OwnPool;
  readonly store: ConfigStore;
  /** Public address of the auth service, for the links of drafts. */
  readonly authUrl: string;
  readonly ref: () => Promise<string>;
  /** A token from the options (`--access-token`), not stored, with all scopes; null: none. */
  readonly accessToken: string | null;
  readonly ignoreUnknown: boolean;
  readonly digest: DigestSecret;
  readonly renderingTime: RenderingTime;
  readonly unknownTokens: UnknownTokens;
  readonly clock: Clock;
  readonly observe: Observe;
}

/** The operations. The routes check the scope of the caller's token. */
export class ManagementApi {
  readonly #options: ManagementOptions;

  constructor(options: ManagementOptions) {
    this.#options = options;
  }

  /**
   * Checks ref, token and project, in this order.
   *
   * @param token Of the request; null or empty without one.
   * @param from What unknown tokens are limited for: the client's network.
   * @throws ManagementError, or DatabaseError if it cannot be checked.
   */
  authorize(ref: string, token: string | null, from: string): Promise<ManagementCaller> {
    return authorize(this.#options, ref, { token, from });
  }

  /**
   * Hands the request of a mail service over, which has no token.
   *
   * @throws ManagementError `invalid_ref`, `project_not_found`, `event_refused`, `deliveries_failed`
   */
  async receiveEvents(
    ref: string,
    request: EventRequest,
    receive: ReceiveEvents,
  ): Promise<{ readonly events: number }> {
    const { pool, store } = this.#options;
    return masked('deliveries_failed', async () => {
      await assertProject(this.#options, ref);
      const config = await store.refreshIfNewer(pool);
      const events = await receive(config, request).catch((error) => {
        throw error instanceof EventRefusal ? new ManagementError('event_refused', error.message) : error;
      });
      return { events };
    });
  }

  /** @throws ManagementError `read_failed` */
  readConfig(): Promise<ReadResult> {
    return this.#read(async () => this.#present(this.#options.store.snapshot()));
  }

  /**
   * Validates a body and stores it as the next version. It applies to every request that starts after this resolves, on
   * every process.
   *
   * @param readBody Called after authorization.
   * @param options.ifVersion The required stored version; null: any.
   * @param options.allowWarnings Stores emails that lead nowhere, too, with a warning.
   * @throws ManagementError `config_only`, `invalid_body`, `validation_failed`, `version_conflict`, `update_failed`
   */
  async changeConfig(
    caller: ManagementCaller,
    readBody: () => unknown,
    { ifVersion, allowWarnings }: { readonly ifVersion: number | null; readonly allowWarnings: boolean },
  ): Promise<ChangeResult> {
    const { store, observe } = this.#options;
    if (store.configOnly) throw new ManagementError('config_only');
    const body = readBody();
    return masked('update_failed', async () => {
      const { changeConfig } = await import('./change-config.ts');
      const changed = await changeConfig(this.#options, body, { by: caller.by, ifVersion, allowWarnings });
      for (const warning of changed.warnings) observe({ kind: 'warning', message: `Auth configuration: ${warning}` });
      const { snapshot, ...told } = changed;
      return { ...this.#present(snapshot), ...told };
    });
  }

  /** The editable emails. @throws ManagementError `read_failed` */
  describeEmails(): Promise<readonly DescribedEmail[]> {
    return this.#read(async (config) => {
      const { describeEmails } = await loadDrafts();
      const { store, authUrl } = this.#options;
      return describeEmails({ config, authUrl }, layerAuthConfig(store.snapshot().start));
    });
  }

  /** The editable templates beside the emails. @throws ManagementError `read_failed` */
  describeShared(): Promise<readonly SharedTemplate[]> {
    return this.#read(async (config) => {
      const { describeSharedTemplates: describeShared } = await import('./templates/shared-drafts.ts');
      return describeShared(config, layerAuthConfig(this.#options.store.snapshot().start));
    });
  }

  /**
   * Renders a draft; the answer includes its faults.
   *
   * @throws ManagementError `invalid_body`, `validation_failed`, `rate_limited`, `read_failed`
   */
  renderDraft(caller: ManagementCaller, readBody: () => unknown): Promise<RenderedDraft> {
    return this.#read(async (config) => {
      const { renderRequest } = await import('./templates/shared-drafts.ts');
      const render = () => renderRequest(readBody(), { config, authUrl: this.#options.authUrl });
      return this.#options.renderingTime.spend(caller.tokenId, render);
    });
  }

  /**
   * Sends a draft to the address in the member `to`, like any message.
   *
   * @throws ManagementError `invalid_body`, `validation_failed`, `read_failed`, `deliveries_failed`, `send_failed`
   */
  async sendDraft(readBody: () => unknown, deliver: DeliverMessage): Promise<void> {
    return masked('read_failed', async () => {
      const body = readBody();
      const config = await this.#options.store.refreshIfNewer(this.#options.pool);
      const { buildTrial, readDraft } = await loadDrafts();
      const draft = readDraft(body, { config, authUrl: this.#options.authUrl }, ['to']);
      const message = buildTrial(draft, (body as { readonly to?: unknown }).to);
      await deliver(config, message).catch((error) => {
        throw refusalOf(error);
      });
    });
  }

  /** Newest first. @throws ManagementError `read_failed` */
  async listVersions(): Promise<readonly ConfigVersion[]> {
    const { pool, ref } = this.#options;
    return masked('read_failed', async () => listVersions(pool, await ref()));
  }

  /** @throws ManagementError `not_found`, `read_failed` */
  async readVersion(version: number): Promise<EmailsOfVersion> {
    const { pool, ref } = this.#options;
    const found = await masked('read_failed', async () => readVersion(pool, await ref(), version));
    if (found === null) throw new ManagementError('not_found', `Version ${version} is not kept`);
    return found;
  }

  /**
   * Runs a function of token-requests.ts for an operator.
   *
   * @throws ManagementError as the function does, or `tokens_failed`
   */
  async withTokens<T>(
    caller: ManagementCaller,
    audit: TokenRequest['audit'],
    run: (requests: typeof import('./tokens/token-requests.ts'), request: TokenRequest) => Promise<T>,
  ): Promise<T> {
    const { pool, clock, ref, store } = this.#options;
    return masked('tokens_failed', async () => {
      const config = await store.refreshIfNewer(pool);
      return run(await import('./tokens/token-requests.ts'), { pool, clock, ref: await ref(), config, caller, audit });
    });
  }

  /**
   * Runs a function of deliveries.ts for an operator, with the time.
   *
   * @throws ManagementError as the function does, or `deliveries_failed`
   */
  async withDeliveries<T>(run: (pool: SystemPool, now: Date) => Promise<T>): Promise<T> {
    const { pool, clock } = this.#options;
    return masked('deliveries_failed', () => run(pool, new Date(clock.now())));
  }

  async #read<T>(read: (config: AuthConfig) => Promise<T>): Promise<T> {
    const { store, pool } = this.#options;
    return masked('read_failed', async () => read(await store.refreshIfNewer(pool)));
  }

  #present(snapshot: ConfigSnapshot): ReadResult {
    return { config: presentConfig(snapshot, this.#options.digest), version: snapshot.version };
  }
}

/** What clients read of a test email that was not sent. */
function refusalOf(error: unknown): unknown {
  if (error instanceof EmailError) return new ManagementError('send_failed', error.message);
  if (error instanceof SuppressedError) return new ManagementError('validation_failed', error.message);
  return new ManagementError('deliveries_failed', undefined, { cause: error });
}

// Loaded with the first draft: it needs the whole template engine.
const loadDrafts = () => import('./templates/email-drafts.ts');

async function authorize(
  options: ManagementOptions,
  ref: string,
  { token, from }: { readonly token: string | null; readonly from: string },
): Promise<ManagementCaller> {
  assertRef(ref);
  if (!token) throw new ManagementError('unauthorized');
  const caller = await findCaller(options, token, from).catch(async (error) => {
    if (!(error instanceof DatabaseError) || error.kind !== 'statement') throw error;
    // A database without our tables has no project to manage.
    if (isMissingTable(error) || !(await options.pool.isOurs())) throw new ManagementError('project_not_found');
    throw error;
  });
  if (caller === null) throw new ManagementError('unauthorized');
  await assertProject(options, ref);
  if (caller.projectRef !== null && caller.projectRef !== ref) throw new ManagementError('forbidden');
  return caller;
}

function assertRef(ref: string): void {
  if (!/^[a-z0-9]{20}$/.test(ref)) throw new ManagementError('invalid_ref');
}

/** @throws ManagementError `invalid_ref`, `project_not_found` */
async function assertProject({ ref: ownRef, pool }: ManagementOptions, ref: string): Promise<void> {
  assertRef(ref);
  if (ref !== (await ownRef()) || !(await pool.isOurs())) throw new ManagementError('project_not_found');
}

async function findCaller(
  { pool, accessToken, clock, unknownTokens }: ManagementOptions,
  token: string,
  from: string,
): Promise<ManagementCaller | null> {
  if (accessToken !== null && sameText(token, accessToken)) {
    return {
      tokenId: fixedTokenId,
      by: 'the access token of the project (--access-token)',
      scopes: accessScopes,
      projectRef: null,
    };
  }
  const waitMs = unknownTokens.waitMs(token, from);
  if (waitMs !== null) {
    const message = 'Rate limit exceeded: too many requests with unknown access tokens (--management-rate-limit)';
    throw new ManagementError('rate_limited', message, { retryAfterSeconds: Math.ceil(waitMs / 1000) });
  }
  const found = await findAccessToken(pool, token, new Date(clock.now()));
  unknownTokens.note(token, from, found !== null);
  if (found === null) return null;
  const { id, name, scopes, projectRef } = found;
  return { tokenId: id, by: `${name} (${id})`, scopes, projectRef };
}
