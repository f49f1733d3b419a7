/** Sends an email of the outbox through the hook `send_email`, outside a transaction. */
import type { SendByHook } from '../../email/outbox/send-from-outbox.ts';
import { EmailError } from '../../email/transport/email-error.ts';
import type { Hooks } from './call-hook.ts';
import { HookError } from './hook-error.ts';

/** Makes the sender. Its failures are those of a mail server: a refusal is final, all others are tried again. */
export function createHookSender(hooks: Hooks): SendByHook {
  return async (config, { id, payload }) => {
    try {
      await hooks.ask(null, { name: 'send_email', config, payload, ...(id !== undefined && { id }) });
    } catch (error) {
      if (!(error instanceof HookError)) throw error;
      // Without a reason for the log, the hook refused deliberately.
      if (error.reason === null) throw new EmailError('message_refused', 'the hook refused it');
      throw new EmailError('try_later', `the hook failed: ${error.reason}`);
    }
  };
}
