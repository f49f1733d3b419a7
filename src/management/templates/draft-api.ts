/**
 * The part of the management API with which people look before they change something: drafts of emails, and earlier versions.
 */
import { type AuthConfig, layerAuthConfig } from '../../config/auth/auth-config.ts';
import type { EmailMessage } from '../../email/message.ts';
import { MailError } from '../../email/transport/mail-error.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import type { ConfigStore } from '../config-store.ts';
import { demand, type ManagementCaller, masked } from '../management-caller.ts';
import { ManagementError } from '../management-error.ts';
import { type ConfigVersion, type EmailsOfVersion, listVersions, readVersion } from '../version-history.ts';
import type { DescribedEmail, RenderedDraft } from './draft-shapes.ts';

/** The operations. */
export interface DraftApi {
  /** The emails that can be edited. @throws ManagementError `forbidden`, `read_failed` */
  describeEmails(caller: ManagementCaller): Promise<readonly DescribedEmail[]>;
  /** Renders a draft; its faults are part of the answer. @throws ManagementError `forbidden`, `invalid_body`, `validation_failed`, `read_failed` */
  renderDraft(caller: ManagementCaller, readBody: () => unknown): Promise<RenderedDraft>;
  /**
   * Sends a draft to the address in the member `to`, by the way of all messages.
   *
   * @throws ManagementError `forbidden`, `invalid_body`, `validation_failed`, `read_failed`, `send_failed`
   */
  sendDraft(caller: ManagementCaller, readBody: () => unknown, deliver: DeliverMessage): Promise<void>;
  /** Newest first. @throws ManagementError `forbidden`, `read_failed` */
  listVersions(caller: ManagementCaller): Promise<readonly ConfigVersion[]>;
  /** @throws ManagementError `forbidden`, `not_found`, `read_failed` */
  readVersion(caller: ManagementCaller, version: number): Promise<EmailsOfVersion>;
}

/** Hands a message over. @throws MailError */
export type DeliverMessage = (config: AuthConfig, message: EmailMessage) => Promise<void>;

/** What they are made of. */
export interface DraftOptions {
  /** Connections that may read and write our tables. */
  readonly pool: SystemPool;
  readonly store: ConfigStore;
  readonly ref: () => Promise<string>;
}

/** Makes them. */
export function createDraftApi(options: DraftOptions): DraftApi {
  const { pool, store } = options;
  // Loaded with the first draft: it needs the whole engine of templates.
  async function openDraft(readBody: () => unknown) {
    const body = readBody();
    const [config, drafts] = await Promise.all([store.refreshIfNewer(pool), import('./email-drafts.ts')]);
    return { body, config, drafts, draft: drafts.readDraft(body, config) };
  }

  return {
    async describeEmails(caller) {
      demand(caller, 'auth_config:read');
      const { describeEmails } = await import('./email-drafts.ts');
      return masked('read_failed', async () => {
        const config = await store.refreshIfNewer(pool);
        return describeEmails(config, layerAuthConfig(store.snapshot().start));
      });
    },

    async renderDraft(caller, readBody) {
      demand(caller, 'auth_config:read');
      return masked('read_failed', async () => {
        const { draft, drafts, config } = await openDraft(readBody);
        return drafts.renderDraft(draft, config);
      });
    },

    async sendDraft(caller, readBody, deliver) {
      demand(caller, 'auth_config:write');
      return masked('read_failed', async () => {
        const { body, draft, drafts, config } = await openDraft(readBody);
        const message = drafts.buildTrial(draft, config, (body as { readonly to?: unknown }).to);
        await deliver(config, message).catch((error) => {
          throw error instanceof MailError ? new ManagementError('send_failed', error.message) : error;
        });
      });
    },

    async listVersions(caller) {
      demand(caller, 'auth_config:read');
      return masked('read_failed', async () => listVersions(pool, await options.ref()));
    },

    async readVersion(caller, version) {
      demand(caller, 'auth_config:read');
      const found = await masked('read_failed', async () => readVersion(pool, await options.ref(), version));
      if (found === null) throw new ManagementError('not_found', `Version ${version} is not kept`);
      return found;
    },
  };
}
