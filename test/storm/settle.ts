/**
 * Decides what an answer that was lost has left open, by asking for things that only one of the possible states allows.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Account,
  adopt,
  ask,
  type Device,
  forgetAccount,
  Lost,
  newDevice,
  newest,
  own,
  type Person,
  Refused,
  violation,
} from './person.ts';

/** Between two attempts. */
const pauseMs = 1000;

/** No disturbance takes that long. */
const maxAttempts = 120;

/** Brings the model of the account down to one state. @throws Lost where an answer is lost again. */
export async function settle(person: Person): Promise<void> {
  const { account } = person;
  if (account === null || !isOpen(account)) return;
  await sleep(person.world.restMs);
  if (account.mayBeGone && (await isGone(person, account))) {
    forgetAccount(person);
    return;
  }
  account.mayBeGone = false;
  if (!account.confirmed.includes(true)) return;
  const device = newDevice(person);
  if (!(await findCredentials(person, account, device))) return;
  const { user } = await ask(person, 'own user', () => device.supabase.auth.getUser());
  account.counters = [counterOf(person, user)];
  account.apps = [findApp(person, user)];
}

function isOpen({ emails, passwords, counters, apps, confirmed, mayBeGone }: Account): boolean {
  return mayBeGone || [emails, passwords, counters, apps, confirmed].some(({ length }) => length > 1);
}

async function isGone(person: Person, { id }: Account): Promise<boolean> {
  try {
    await ask(person, 'user by id', () => person.admin.getUserById(id), ['user_not_found']);
    return false;
  } catch (error) {
    if (error instanceof Refused) return true;
    throw error;
  }
}

/** @returns Whether the account can be signed in to; one that is not confirmed cannot. */
async function findCredentials(person: Person, account: Account, device: Device): Promise<boolean> {
  const refusals = new Set<string>();
  for (const email of account.emails) {
    for (const password of account.passwords) {
      try {
        const request = () => device.supabase.auth.signInWithPassword({ email, password });
        const { session } = await ask(person, `sign-in as ${email}`, request, [
          'invalid_credentials',
          'email_not_confirmed',
        ]);
        adopt(person, device, session);
        [account.emails, account.passwords, account.confirmed] = [[email], [password], [true]];
        return true;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        refusals.add(error.code);
      }
    }
  }
  if (refusals.has('email_not_confirmed') && account.confirmed.includes(false)) account.confirmed = [false];
  else violation(person, `none of the possible credentials is accepted: ${[...refusals]}`);
  return false;
}

interface AnsweredUser {
  readonly user_metadata: { readonly counter?: number };
  readonly factors?: readonly { readonly id: string; readonly status: string }[];
}

/** The counter of the answer, which must be a possible one. */
export function counterOf(person: Person, user: AnsweredUser): number {
  const { counters } = own(person);
  const { counter = 0 } = user.user_metadata;
  if (!counters.includes(counter)) violation(person, `a counter of ${counter} instead of ${counters.join(' or ')}`);
  return counter;
}

/** The factor of the answer, which must be a possible one. */
function findApp(person: Person, { factors = [] }: AnsweredUser): Account['apps'][number] {
  const { apps } = own(person);
  const verified = factors.filter(({ status }) => status === 'verified').map(({ id }) => id);
  const possible = apps.filter((app) => (app === null ? verified.length === 0 : verified.includes(app.id)));
  if (possible.length === 0 || verified.length > 1)
    violation(person, `factors that nobody added or removed: ${verified}`);
  return newest(possible.length === 0 ? apps : possible);
}

/** Repeats something until its answer is not lost. @throws Lost where none has come for minutes. */
export async function untilAnswered(act: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await act();
      return;
    } catch (error) {
      if (!(error instanceof Lost) || attempt === maxAttempts) throw error;
      await sleep(pauseMs);
    }
  }
}
