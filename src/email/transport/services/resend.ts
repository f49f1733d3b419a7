/** Resend: https://resend.com/docs/api-reference/emails/send-email */
import type { EmailErrorCode } from '../email-error.ts';
import { type MailService, mailboxText, splitReplyTo, wordAt } from './mail-service.ts';

/** By `name`. */
const refusals: Readonly<Record<string, EmailErrorCode>> = {
  invalid_from_address: 'sender_refused',
  restricted_api_key: 'login_refused',
  // Another request with the key of this message is under way.
  concurrent_idempotent_requests: 'try_later',
};

/** The service. */
export const resend: MailService = {
  url: 'https://api.resend.com',
  toRequest({ from, to, subject, html, plainText, headers, messageId }, { apiKey }) {
    const { replyTo, others } = splitReplyTo(headers);
    const content = {
      from: mailboxText(from),
      to: [to],
      subject,
      html,
      headers: others,
      // Without this member, the service makes a text of its own.
      text: plainText ?? '',
      ...(replyTo !== null && { reply_to: replyTo }),
    };
    // A message that was taken although we got no answer is not sent twice.
    const own = { authorization: `Bearer ${apiKey}`, 'idempotency-key': messageId.replace(/[<>]/g, '') };
    return { path: '/emails', headers: own, body: JSON.stringify(content) };
  },
  idOf: (_answer, json) => wordAt(json, 'id'),
  refusalOf({ status }, json) {
    const name = wordAt(json, 'name') ?? '';
    // A domain that is not verified.
    if (status === 403 && name === 'validation_error') return 'sender_refused';
    return refusals[name] ?? null;
  },
  codeOf: (json) => wordAt(json, 'name'),
};
