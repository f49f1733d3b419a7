/**
 * Which mail service tells of bounces and complaints, and what its secret looks like. Secrets of one service must not
 * pass for those of another: one is a public key.
 */

/** Services whose events are understood. */
export const eventsServices = ['ses', 'postmark', 'sendgrid', 'mailgun', 'resend'] as const;

/** One of them. */
export type EventsService = (typeof eventsServices)[number];

/** The fields that decide. */
export interface EventsConfig {
  readonly mailer_events_service: EventsService | null;
  readonly mailer_events_secret: string | null;
  readonly mailer_transport: 'smtp' | Exclude<EventsService, 'mailgun'>;
}

const secrets: Readonly<Record<EventsService, readonly [pattern: RegExp, rule: string]>> = {
  ses: [/^arn:aws[\w-]*:sns:[a-z0-9-]+:\d{12}:[\w.-]+$/, 'the ARN of the SNS topic'],
  postmark: [/^[^:]+:.{8,}$/, 'USER:PASSWORD of the webhook, with 8 characters of password at least'],
  sendgrid: [/^[A-Za-z0-9+/]{80,}={0,2}$/, 'the public key of the signed event webhook'],
  mailgun: [/^\S{16,}$/, 'the webhook signing key'],
  resend: [/^(whsec_)?[A-Za-z0-9+/]{24,}={0,2}$/, 'the signing secret of the webhook'],
};

/** Anybody may know these: a public key, and the ARN of a topic. */
const isPublic = (secret: string) => /^(MFk|MFY|MII|arn:)/.test(secret);

/** The service; null if none is named and emails go to a mail server. */
export function eventsServiceOf({ mailer_events_service, mailer_transport }: EventsConfig): EventsService | null {
  return mailer_events_service ?? (mailer_transport === 'smtp' ? null : mailer_transport);
}

/** Contradictions, as sentences; empty for none. */
export function checkEvents(config: EventsConfig): readonly string[] {
  const { mailer_events_secret: secret } = config;
  if (!secret) return [];
  const service = eventsServiceOf(config);
  if (service === null) return ['mailer_events_secret needs mailer_events_service'];
  const [pattern, rule] = secrets[service];
  const mayBePublic = service === 'ses' || service === 'sendgrid';
  return pattern.test(secret) && (mayBePublic || !isPublic(secret))
    ? []
    : [`mailer_events_secret must be ${rule} for ${service}`];
}
