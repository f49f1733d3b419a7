/**
 * The emails that requests have caused: each arrives once, or once more where a connection was cut while it was sent.
 */
import type { Ledger } from '../storm/ledger.ts';
import { kindOf } from '../storm/use-token.ts';
import type { MailServers } from '../storm/world.ts';
import type { Cut } from './soak-state.ts';

/** How a request has ended: accepted, refused, or without an answer, and then nobody knows. */
export type End = 'accepted' | 'refused' | 'lost';

/** How long before a cut an email may have arrived whose sender did not learn of it, and how long after its end. */
const beforeMs = 10_000;
const afterMs = 5000;

export class ExpectedEmails {
  /** How many at least and at most, by kind and address. */
  readonly #topics = new Map<string, { readonly least: number; readonly most: number }>();

  /** Notes how a request has ended that causes an email of this kind. */
  note(kind: string, address: string, end: End): void {
    const topic = topicOf(kind, address);
    const { least, most } = this.#topics.get(topic) ?? { least: 0, most: 0 };
    this.#topics.set(topic, { least: least + (end === 'accepted' ? 1 : 0), most: most + (end === 'refused' ? 0 : 1) });
  }

  /** Compares with what has arrived since the last time, when nothing is on its way any more. */
  check(mail: Pick<MailServers, 'recipients' | 'emailsTo'>, cuts: readonly Cut[], ledger: Ledger): void {
    const arrived = new Map<string, number>();
    for (const address of mail.recipients()) {
      const seen = new Map<string, number>();
      for (const message of mail.emailsTo(address)) {
        const { receivedAt, parsed } = message;
        const { messageId = '' } = parsed;
        const topic = topicOf(kindOf(message), address);
        const first = seen.get(messageId);
        seen.set(messageId, receivedAt);
        if (first === undefined) {
          arrived.set(topic, (arrived.get(topic) ?? 0) + 1);
          ledger.count(`emails: ${kindOf(message)}`);
        } else if (cuts.some(({ from, to }) => first >= from - beforeMs && first <= to + afterMs))
          ledger.count('emails that arrived once more');
        else ledger.violation(`${topic}: arrived once more although nothing was cut`);
      }
    }
    for (const topic of new Set([...arrived.keys(), ...this.#topics.keys()])) {
      const { least, most } = this.#topics.get(topic) ?? { least: 0, most: 0 };
      const count = arrived.get(topic) ?? 0;
      if (count < least || count > most) ledger.violation(`${topic}: ${count} emails instead of ${least} to ${most}`);
    }
    this.#topics.clear();
  }
}

function topicOf(kind: string, address: string): string {
  return `${kind} to ${address}`;
}
