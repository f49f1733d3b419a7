/** Runs clients against a cluster while things happen to its servers, and judges what they saw. */
import { setTimeout as sleep } from 'node:timers/promises';
import { summarize } from '../storm/summarize-log.ts';
import type { Delivery } from '../storm/world.ts';
import type { WhenOver } from '../support/when-over.ts';
import { Book, type Kind, kinds } from './book.ts';
import { domain, startClients } from './clients.ts';
import { type ClusterEvent, events } from './events.ts';
import type { Machine } from './machines.ts';
import { type Servers, startServers } from './servers.ts';

/** An event as the clients saw it; times in seconds. */
interface Seen {
  readonly name: string;
  /** From the event to the new primary; 0 where there is none. */
  readonly failover: number;
  /** By the kind of client: from the first failure, or the event that it began before, to the end of the last one. */
  readonly errors: ReadonlyMap<Kind, { readonly count: number; readonly lasted: number }>;
}

/** What came of it. */
export interface ClusterReport {
  readonly seen: readonly Seen[];
  readonly requests: ReadonlyMap<Kind, number>;
  /** Reasons of failed requests, with their number. */
  readonly reasons: ReadonlyMap<string, number>;
  readonly emails: number;
  /** Errors that the gateways logged, with their number. */
  readonly logged: ReadonlyMap<string, number>;
  readonly violations: readonly string[];
}

/** How long errors may last beyond the failover, in seconds. */
const allowance = 2;
/** Calm before and after each event, in milliseconds. */
const calmMs = 4000;
/** How long the last emails and the last state may take, in milliseconds. */
const lastMs = 30_000;

/** Runs it with the events whose names match. */
export async function runCluster(
  wanted: RegExp,
  onEvent: (text: string) => void,
  whenOver: WhenOver,
): Promise<ClusterReport> {
  const chosen = events.filter(({ name }) => wanted.test(name));
  if (chosen.length === 0) throw new Error(`No event has such a name: ${wanted.source}`);
  const servers = await startServers(whenOver);
  onEvent('all servers run');
  const book = new Book((text) => onEvent(`VIOLATION: ${text}`));
  const clients = startClients(servers, book);
  whenOver(async () => void (await Promise.all([clients.stopWriting(), clients.stopWatching()])));
  await sleep(calmMs);
  const seen: Seen[] = [];
  for (const event of chosen) {
    for (const each of await letHappen(event, servers, book)) {
      seen.push(each);
      onEvent(describe(each));
    }
  }
  await clients.stopWriting();
  await checkEnd(servers, book, 'direct');
  await clients.stopWatching();
  for (const each of seen) checkErrors(each, book);
  return {
    seen,
    requests: book.requests,
    reasons: book.reasons(),
    logged: summarize(servers.logged().filter((line) => line.startsWith('{"level":"error"'))),
    emails: numberOfEmails(servers),
    violations: [...book.violations],
  };
}

function numberOfEmails({ mail }: Servers): number {
  return mail.recipients().reduce((sum, address) => sum + mail.emailsTo(address).length, 0);
}

/** Lets an event happen and, apart from it, what puts it right; then everything is well again. */
export async function letHappen(event: ClusterEvent, servers: Servers, book: Book): Promise<readonly Seen[]> {
  // On a busy machine, something may have happened without us.
  await servers.untilWell();
  const old = await servers.primary();
  const began = performance.now();
  const watch = event.isFailover ? failoverOf(servers, old, began) : Promise.resolve(0);
  const { name, repair } = await event.begin(servers);
  const failover = await watch;
  if (name === null) {
    await servers.untilWell();
    await sleep(calmMs);
    return [judge(event.name, book, began, failover)];
  }
  await sleep(calmMs);
  const first = judge(event.name, book, began, failover);
  const repaired = performance.now();
  await repair();
  await servers.untilWell();
  await sleep(calmMs);
  return [first, judge(name, book, repaired, 0)];
}

/** Seconds until another machine than the old one is the primary. */
async function failoverOf(servers: Servers, old: Machine | null, began: number): Promise<number> {
  for (;;) {
    const roles = await Promise.all(servers.databases.map(servers.roleOf));
    if (servers.databases.some((machine, index) => machine !== old && roles[index] === 'primary'))
      return (performance.now() - began) / 1000;
    await sleep(100);
  }
}

function judge(name: string, { failures }: Book, began: number, failover: number): Seen {
  const of = (kind: Kind) => failures.filter((failure) => failure.kind === kind && failure.ended >= began);
  const errors = kinds.map((kind) => {
    const failed = of(kind);
    const first = Math.max(began, Math.min(...failed.map((failure) => failure.began)));
    const last = Math.max(...failed.map(({ ended }) => ended));
    return [kind, { count: failed.length, lasted: (last - first) / 1000 }] as const;
  });
  return { name, failover, errors: new Map(errors.filter(([, { count }]) => count > 0)) };
}

function checkErrors({ name, failover, errors }: Seen, book: Book): void {
  for (const [kind, { lasted }] of errors) {
    if (lasted > failover + allowance)
      book.violation(
        `After "${name}", ${kind} failed for ${lasted.toFixed(1)} s; the failover took ${failover.toFixed(1)} s.`,
      );
  }
}

/** What has to be there in the end. */
export async function checkEnd(servers: Servers, book: Book, delivery: Delivery): Promise<void> {
  const primary = (await servers.primary())!;
  const entries = await servers.query<{ readonly id: string }>(primary, 'select id from public.entry');
  const stored = new Set(entries.map(({ id }) => id));
  for (const id of book.written) if (!stored.has(id)) book.violation(`The write ${id} was answered, and is lost.`);
  for (const id of book.read) if (!stored.has(id)) book.violation(`The row ${id} was read, and never lasted.`);

  const users = await servers.query<{ readonly email: string; readonly confirmed: boolean }>(
    primary,
    `select email, email_confirmed_at is not null as confirmed from auth.users where email like '%@${domain}'`,
  );
  const accounts = new Map(users.map(({ email, confirmed }) => [email, confirmed]));
  for (const email of book.signedUp) if (!accounts.has(email)) book.violation(`The account of ${email} is lost.`);
  for (const email of book.confirmed)
    if (accounts.get(email) !== true) book.violation(`The confirmation of ${email} is lost.`);

  const { emailsTo } = servers.mail;
  await within(lastMs, () => [...book.signedUp].every((email) => emailsTo(email).length > 0));
  for (const email of accounts.keys()) {
    const ids = emailsTo(email).map(({ parsed }) => parsed.messageId);
    // From a queue, an email comes once more where a gateway is killed before it could note that it was sent.
    const { length } = delivery === 'queue' ? [...new Set(ids)] : ids;
    if (length > 1) book.violation(`${email} got ${length} emails.`);
    if (length === 0) book.violation(`${email} got no email.`);
  }

  const boards = await servers.query<{ readonly id: number; readonly value: number }>(
    primary,
    'select * from public.board',
  );
  await within(lastMs, () => boards.every(({ id, value }) => book.live.get(id) === value));
  for (const { id, value } of boards) {
    if (book.live.get(id) !== value)
      book.violation(`The live query of board ${id} ended at ${book.live.get(id)}, not ${value}.`);
    if (value < (book.boards.get(id) ?? 0)) book.violation(`Board ${id} lost ${book.boards.get(id)} for ${value}.`);
  }
}

async function within(limitMs: number, holds: () => boolean): Promise<void> {
  for (const end = performance.now() + limitMs; !holds() && performance.now() < end; ) await sleep(100);
}

/** In one line. */
export function describe({ name, failover, errors }: Seen): string {
  const list = [...errors].map(([kind, { count, lasted }]) => `${kind} ${count} in ${lasted.toFixed(1)} s`);
  return `${name}${failover > 0 ? `, failover ${failover.toFixed(1)} s` : ''}: ${list.join(', ') || 'no errors'}`;
}
