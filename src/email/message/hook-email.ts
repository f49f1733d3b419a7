/** An email that the hook `send_email` sends: it gets the data and writes the text, without a template. */
import type { EmailKind } from '../../config/auth/email-kinds.ts';
import type { EmailMessage } from './message.ts';

/** The data, under Supabase's names; empty strings for absent values. */
export interface HookEmailData {
  /** The code to type. For a change at both addresses: the one sent to the present address. */
  readonly token: string;
  /** For links. For a change: the one sent to the new address. */
  readonly token_hash: string;
  /** For a change at both addresses: the code for the new address, and the hash for the present one. */
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
  /** Of the webhook's request, the same with each attempt; absent in an email that an older version has stored. */
  readonly id?: string;
  readonly payload: {
    /** The user's public JSON. */
    readonly user: Readonly<Record<string, unknown>>;
    readonly email_data: HookEmailData;
  };
}

/** An email that the outbox can store. */
export type OutgoingEmail = EmailMessage | HookEmail;

/** Whether it is for the hook. */
export function isHookEmail(email: OutgoingEmail): email is HookEmail {
  return 'payload' in email;
}
