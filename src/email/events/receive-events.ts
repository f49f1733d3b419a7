/** Receives what mail services tell of emails that they took: verifies the sender, then notes the events. */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { type EventsService, eventsServiceOf } from '../../config/auth/auth-events.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Egress } from '../../shared/egress/egress.ts';
import { readBounded } from '../../shared/read-bounded.ts';
import { applyEvents } from './apply-events.ts';
import { EventRefusal, type EventRequest, type ReadEvents } from './mail-event.ts';
import { readMailgunEvents } from './mailgun-events.ts';
import { readPostmarkEvents } from './postmark-events.ts';
import { readResendEvents } from './resend-events.ts';
import { readSendgridEvents } from './sendgrid-events.ts';
import { readSesEvents } from './ses-events.ts';

const readers: Readonly<Record<EventsService, ReadEvents>> = {
  mailgun: readMailgunEvents,
  postmark: readPostmarkEvents,
  resend: readResendEvents,
  sendgrid: readSendgridEvents,
  ses: readSesEvents,
};

interface EventParts {
  readonly database: Pick<SystemPool, 'transaction'>;
  /** A `fetch` for addresses of AWS. */
  readonly egress: Pick<Egress, 'fetchFor'>;
  readonly clock: Clock;
}

/** Receives a request. @returns Noted events; none for a replay. @throws EventRefusal; DatabaseError: may repeat. */
export type ReceiveEvents = (config: AuthConfig, request: EventRequest) => Promise<number>;

const maxTextBytes = 65_536;
const timeoutMs = 5000;

/** Certificates that are kept. */
const maxKept = 5;

/** Requests at once: anybody who knows the topic can name certificates that are not there. */
const maxRunning = 4;

/** Makes the receiver of a process. */
export function createEventReceiver({ database, egress, clock }: EventParts): ReceiveEvents {
  const certificates = new Map<string, string>();
  let running = 0;
  const fetchText = async (url: string): Promise<string> => {
    const known = certificates.get(url);
    if (known !== undefined) return known;
    if (running >= maxRunning) throw new Error('too many wait for the service');
    running += 1;
    const text = await readText(egress, url).finally(() => {
      running -= 1;
    });
    if (certificates.size >= maxKept) certificates.clear();
    if (url.endsWith('.pem')) certificates.set(url, text);
    return text;
  };
  return async (config, request) => {
    const service = eventsServiceOf(config);
    const secret = config.mailer_events_secret;
    if (service === null || !secret) throw new EventRefusal('mailer_events_secret is not set');
    const verified = await readers[service](request, { secret, now: clock.now(), fetchText });
    const isNew = await database.transaction((tx) => applyEvents(tx, verified, config, clock.now()));
    return isNew ? verified.events.length : 0;
  };
}

async function readText(egress: EventParts['egress'], url: string): Promise<string> {
  const signal = AbortSignal.timeout(timeoutMs);
  const answer = await egress.fetchFor(url)(url, { signal, redirect: 'manual' });
  const text = (await readBounded(answer, maxTextBytes)).toString('utf8');
  if (!answer.ok) throw new Error(`the answer was ${answer.status}`);
  return text;
}
