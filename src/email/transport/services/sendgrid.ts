/** SendGrid: https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send */
import { type MailService, splitReplyTo, wordAt } from './mail-service.ts';

const off = { enable: false };

/** The service. */
export const sendgrid: MailService = {
  url: 'https://api.sendgrid.com',
  toRequest({ from, to, subject, html, plainText, headers }, { apiKey }) {
    const { replyTo, others } = splitReplyTo(headers);
    const content = {
      personalizations: [{ to: [{ email: to }] }],
      from: { email: from.address, ...(from.name !== '' && { name: from.name }) },
      ...(replyTo !== null && { reply_to: { email: replyTo } }),
      subject,
      // The text has to come first.
      content: [
        ...(plainText === null ? [] : [{ type: 'text/plain', value: plainText }]),
        { type: 'text/html', value: html },
      ],
      ...(Object.keys(others).length > 0 && { headers: others }),
      // Tracking replaces links and breaks them.
      tracking_settings: { click_tracking: { ...off, enable_text: false }, open_tracking: off },
    };
    const own = { authorization: `Bearer ${apiKey}` };
    return { path: '/v3/mail/send', headers: own, body: JSON.stringify(content) };
  },
  idOf: ({ headers }) => headers.get('x-message-id'),
  refusalOf({ status }, json) {
    const [first] = errorsOf(json);
    const field = wordAt(first, 'field') ?? '';
    if (field.startsWith('personalizations')) return 'recipient_refused';
    return status === 403 || field.startsWith('from') ? 'sender_refused' : null;
  },
  codeOf: (json) => wordAt(errorsOf(json)[0], 'field'),
};

function errorsOf(json: unknown): readonly unknown[] {
  const errors = typeof json === 'object' && json !== null && 'errors' in json ? json.errors : null;
  return Array.isArray(errors) ? errors : [];
}
