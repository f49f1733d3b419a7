/**
 * An email that the hook `send_email` sends in place of a mail server: the hook gets the facts, and makes text and message
 * of its own from them. No template is rendered for it.
 */
import type { AuthConfig } from '../config/auth/auth-config.ts';
import type { Hooks } from '../hooks/hooks.ts';
import type { EmailKind } from './email-kind.ts';
import type { EmailMessage } from './message.ts';

/** The facts, under the names of the ecosystem; what an email does not have is empty. */
export interface HookEmailData {
  /** The code to type. Of a change at both addresses: the one for the present address. */
  readonly token: string;
  /** For links. Of a change: the one for the new address. */
  readonly token_hash: string;
  /** Of a change at both addresses: the code for the new address, and the hash for the present one. */
  readonly token_new: string;
  readonly token_hash_new: string;
  readonly redirect_to: string;
  /** `signup`, `recovery`, `password_changed_notification`, … */
  readonly email_action_type: string;
  /** Public address of the auth service. */
  readonly site_url: string;
  readonly old_email: string;
  readonly old_phone: string;
  readonly provider: string;
  readonly factor_type: string;
}

/** Plain data: it may be stored as JSON and sent later. */
export interface HookEmail {
  readonly kind: EmailKind;
  readonly payload: {
    /** As clients see one. */
    readonly user: Readonly<Record<string, unknown>>;
    readonly email_data: HookEmailData;
  };
}

/** What may wait in the outbox. */
export type OutgoingEmail = EmailMessage | HookEmail;

/** Whether it is for the hook. */
export function isHookEmail(email: OutgoingEmail): email is HookEmail {
  return 'payload' in email;
}

/** Asks the hook to send it, outside a transaction. @throws HookError */
export async function handToHook(hooks: Hooks, config: AuthConfig, { payload }: HookEmail): Promise<void> {
  await hooks.ask(null, { name: 'send_email', config, payload });
}
