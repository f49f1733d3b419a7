/** Sends emails through the hook `send_email`: in the transaction of a request, or those of the outbox outside one. */
import { emailKinds } from '../../config/auth/email-kinds.ts';
import type { HookEmail, HookEmailData } from '../../email/message/hook-email.ts';
import type { MessageData } from '../../email/message/message.ts';
import { deliveryOf } from '../../email/outbox/deliveries.ts';
import type { SendByHook } from '../../email/outbox/send-from-outbox.ts';
import { EmailError } from '../../email/transport/email-error.ts';
import { toUserJson } from '../answers/user-json.ts';
import type { Hooks } from '../hooks/call-hook.ts';
import { HookError } from '../hooks/hook-error.ts';
import { newWebhookId } from '../hooks/post-webhook.ts';
import type { User } from '../model/user.ts';
import { askHook } from '../steps/ask-hook.ts';
import type { AuthContext, Transaction } from '../steps/auth-context.ts';
import { emailTokenSeconds } from '../store/one-time-tokens.ts';
import { reloadUser } from '../store/users.ts';
import type { MadeToken, TokenEmail } from './make-token.ts';

const nothing = {
  token: '', token_hash: '', token_new: '', token_hash_new: '', old_email: '', old_phone: '', provider: '', factor_type: '',
} as const; // biome-ignore format: a list of fields

/**
 * Sends the emails of one request with one call of the hook, within the transaction. With the outbox, stores them instead.
 *
 * @param sent Of one kind; two for a change that is confirmed at both addresses.
 * @throws AuthError The hook's refusal or failure.
 */
export async function sendTokensByHook(
  tx: Transaction,
  sent: readonly (readonly [TokenEmail, MadeToken])[],
): Promise<void> {
  const [first] = sent;
  if (first === undefined) return;
  const [{ kind, user }] = first;
  const message = toHookEmail(tx, kind, await reloadUser(tx, user.id), {
    email_action_type: emailKinds[kind].link?.type ?? kind,
    ...toTokens(sent),
  });
  if (tx.config.mailer_delivery === 'direct') {
    await askHook(tx, 'send_email', message.payload);
    await tx.services.outbox.note(tx, deliveryOf(message, user.id), { state: 'sent', answer: null }, tx.config);
    return;
  }
  const lifetimeSeconds = emailTokenSeconds(tx.config);
  await tx.services.outbox.add(tx, { userId: user.id, message, lifetimeSeconds, config: tx.config });
}

type Tokens = Pick<HookEmailData, 'token' | 'token_hash' | 'token_new' | 'token_hash_new'>;

/** Swapped for a change at both addresses, as receivers expect. */
function toTokens(sent: readonly (readonly [TokenEmail, MadeToken])[]): Tokens {
  const tokenOf = (isCurrent: boolean) =>
    sent.find(([{ tokenType }]) => (tokenType === 'email_change_token_current') === isCurrent)?.[1];
  const [plain, current] = [tokenOf(false), tokenOf(true)];
  const both = current !== undefined;
  return {
    token: (current ?? plain)?.code ?? '',
    token_hash: plain?.linkToken ?? '',
    token_new: both ? (plain?.code ?? '') : '',
    token_hash_new: current?.linkToken ?? '',
  };
}

/** The notification email. @param kind `password_changed_notification` and so on. */
export function toNotificationHookEmail(
  context: AuthContext,
  kind: HookEmail['kind'],
  user: User,
  data: MessageData,
): HookEmail {
  return toHookEmail(context, kind, user, {
    email_action_type: kind,
    old_email: data.oldEmail ?? '',
    old_phone: data.oldPhone ?? '',
    provider: data.provider ?? '',
    factor_type: data.factorType ?? '',
  });
}

function toHookEmail(
  { redirectTo, authUrl }: AuthContext,
  kind: HookEmail['kind'],
  user: User,
  facts: Partial<HookEmailData> & Pick<HookEmailData, 'email_action_type'>,
): HookEmail {
  const email_data = { ...nothing, redirect_to: redirectTo, site_url: authUrl, ...facts };
  return { kind, id: newWebhookId(), payload: { user: toUserJson(user), email_data } };
}

/** Sends emails of the outbox. Its failures are those of a mail server: a refusal is final, all others are tried again. */
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
