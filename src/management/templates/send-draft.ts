/** Sends a draft to an address as a test, like any message. */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import type { EmailMessage } from '../../email/message/message.ts';
import { SuppressedError } from '../../email/outbox/suppressed.ts';
import { EmailError } from '../../email/transport/email-error.ts';
import { ManagementError } from '../management-error.ts';
import { buildTrial, readDraft, type SampleSettings } from './email-drafts.ts';

/** Sends a message. @throws EmailError */
export type DeliverMessage = (config: AuthConfig, message: EmailMessage) => Promise<unknown>;

/**
 * @param body A draft, with the address in the member `to`.
 * @throws ManagementError `invalid_body`, `validation_failed`, `deliveries_failed`, `send_failed`
 */
export async function sendDraft(body: unknown, settings: SampleSettings, deliver: DeliverMessage): Promise<void> {
  const draft = readDraft(body, settings, ['to']);
  const message = buildTrial(draft, (body as { readonly to?: unknown }).to);
  await deliver(settings.config, message).catch((error) => {
    throw refusalOf(error);
  });
}

/** What clients read of a test email that was not sent. */
function refusalOf(error: unknown): unknown {
  if (error instanceof EmailError) return new ManagementError('send_failed', error.message);
  if (error instanceof SuppressedError) return new ManagementError('validation_failed', error.message);
  return new ManagementError('deliveries_failed', undefined, { cause: error });
}
