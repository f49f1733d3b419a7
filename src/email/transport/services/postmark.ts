/** Postmark: https://postmarkapp.com/developer/api/email-api */
import type { EmailErrorCode } from '../email-error.ts';
import { type MailService, mailboxText, splitReplyTo, wordAt } from './mail-service.ts';

/** By `ErrorCode`. */
const refusals: Readonly<Record<string, EmailErrorCode>> = {
  '10': 'login_refused',
  // The address of the recipient is malformed, or gets nothing after a bounce or complaint.
  '300': 'recipient_refused',
  '406': 'recipient_refused',
  // The sender is not confirmed, or not known.
  '400': 'sender_refused',
  '401': 'sender_refused',
  // The account may not send yet, or no more.
  '405': 'try_later',
  '412': 'try_later',
  '413': 'try_later',
};

/** The service. */
export const postmark: MailService = {
  url: 'https://api.postmarkapp.com',
  toRequest({ from, to, subject, html, plainText, headers }, { apiKey }) {
    const { replyTo, others } = splitReplyTo(headers);
    const content = {
      From: mailboxText(from),
      To: to,
      Subject: subject,
      HtmlBody: html,
      ...(plainText !== null && { TextBody: plainText }),
      ...(replyTo !== null && { ReplyTo: replyTo }),
      Headers: Object.entries(others).map(([Name, Value]) => ({ Name, Value })),
      // Tracking replaces links and breaks them.
      TrackOpens: false,
      TrackLinks: 'None',
    };
    return { path: '/email', headers: { 'x-postmark-server-token': apiKey }, body: JSON.stringify(content) };
  },
  idOf: (_answer, json) => wordAt(json, 'MessageID'),
  refusalOf: (_answer, json) => refusals[wordAt(json, 'ErrorCode') ?? ''] ?? null,
  codeOf: (json) => wordAt(json, 'ErrorCode'),
};
