/**
 * What must hold in the database and in the mailboxes, whatever has happened to the servers.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ledger } from './ledger.ts';
import { kindOf, toTokenEmail } from './use-token.ts';
import type { World } from './world.ts';

const wholeUsers = readFileSync(new URL('whole-users.sql', import.meta.url), 'utf8');

/** Looks for users, sessions and tokens that are half-written. @returns Whether the database could be asked. */
export async function checkUsers({ query }: Pick<World, 'query'>, ledger: Ledger): Promise<boolean> {
  const rows = await query<{ problem: string; id: string }>(wholeUsers).catch(() => null);
  for (const { problem, id } of rows ?? []) ledger.violation(`${problem}: ${id}`);
  if (rows !== null) ledger.count('looks for half-written users');
  return rows !== null;
}

/** Longest wait of an email between two attempts that a storm has patience for. */
const patienceMs = 10_000;

/** Waits until every email has been sent. Those that would be tried again much later are due now. */
export async function emptyOutbox({ query }: Pick<World, 'query'>, ledger: Ledger): Promise<void> {
  for (let round = 0; round < 6; round += 1) {
    await query('update pgreflect_queue.emails set due_at = pg_catalog.now() where due_at > pg_catalog.now()');
    const until = Date.now() + patienceMs;
    while (Date.now() < until) {
      const [row] = await query<{ waiting: number }>(
        'select pg_catalog.count(*)::int as waiting from pgreflect_queue.emails',
      );
      if (row?.waiting === 0) return;
      await sleep(100);
    }
  }
  ledger.violation('emails wait in the outbox although nothing is in their way');
}

interface Change {
  readonly kind: string;
  readonly recipient: string;
  /** Milliseconds since the epoch. */
  readonly committed: number;
}

/** Every committed change was told once, after its commit, and no other. */
export async function checkNotifications(world: World, ledger: Ledger): Promise<void> {
  const changes = await world.query<Change>(
    `select kind, recipient, extract(epoch from pg_catalog.pg_xact_commit_timestamp(xmin))::float8 * 1000 as committed
    from storm.changes order by committed`,
  );
  const told = collectNotifications(world, ledger);
  const due = Map.groupBy(changes, ({ kind, recipient }) => `${kind} to ${recipient}`);
  for (const topic of new Set([...told.keys(), ...due.keys()])) {
    const [commits, arrivals] = [due.get(topic) ?? [], told.get(topic) ?? []];
    for (const _ of commits) ledger.count(`notified changes: ${topic.split(' ')[0]}`);
    if (commits.length !== arrivals.length) {
      ledger.violation(`${topic}: ${commits.length} changes, ${arrivals.length} emails`);
    }
    // An arrival is known to the millisecond.
    const early = arrivals.filter((arrival, index) => arrival + 1 < (commits[index]?.committed ?? 0));
    if (early.length > 0) ledger.violation(`${topic}: sent before the commit`);
  }
}

/** When the notifications arrived, by kind and recipient; a copy of an email that had arrived does not count. */
function collectNotifications(world: World, ledger: Ledger): Map<string, number[]> {
  const told = new Map<string, number[]>();
  for (const recipient of world.recipients()) {
    const seen = new Set<string>();
    for (const message of world.emailsTo(recipient)) {
      ledger.count('emails');
      const [kind, id = ''] = [kindOf(message), message.parsed.messageId];
      if (!kind.endsWith('_notification')) continue;
      if (seen.has(id)) ledger.count('notifications that arrived once more');
      else told.set(`${kind} to ${recipient}`, [...(told.get(`${kind} to ${recipient}`) ?? []), message.receivedAt]);
      seen.add(id);
    }
  }
  return told;
}

/** Every link that was stored was sent. */
export async function checkLinks(
  world: Pick<World, 'query' | 'recipients' | 'emailsTo'>,
  ledger: Ledger,
): Promise<void> {
  const links = await world.query<{ token_hash: string; recipient: string }>(
    'select token_hash, recipient from storm.links',
  );
  const sent = new Map(
    world.recipients().map((recipient) => {
      const hashes = world.emailsTo(recipient).map(({ parsed }) => toTokenEmail(parsed.html ?? '').hash);
      return [recipient, new Set(hashes)] as const;
    }),
  );
  for (const { token_hash, recipient } of links) {
    ledger.count('links');
    if (!sent.get(recipient)?.has(token_hash))
      ledger.violation(`a link to ${recipient} that was not sent: ${token_hash}`);
  }
}
