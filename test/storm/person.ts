/**
 * A simulated client: somebody with two devices, and a model of what they know about their account.
 *
 * A request ends in one of three ways. It is answered, and the model knows. It is refused, which must be what the model expects.
 * Or its answer is lost, and then the model keeps every state that is possible until a later answer decides (settle.ts).
 */
import { decodeJwt } from 'jose';
import type { Random } from '../property/random.ts';
import { serviceKey } from '../support/http.ts';
import { type SupabaseClient, supabaseClient } from '../support/supabase-js.ts';
import type { Ledger } from './ledger.ts';
import { publicUrl, type World } from './world.ts';

/** The answer was lost: nobody knows whether it was done. */
export class Lost extends Error {}

/** It was refused. */
export class Refused extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/** There is nothing to be done here at the moment. */
export class NotNow extends Error {}

/** A session as the client stores it. */
export interface StoredSession {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly user: { readonly id: string; readonly email: string };
}

/** A phone or a browser. */
export interface Device {
  readonly supabase: SupabaseClient;
  /** What the client has stored. */
  session(): StoredSession | null;
  keep(session: StoredSession | null): void;
  /** Whether the session may have been ended from elsewhere. */
  isDoubtful: boolean;
}

/** An authenticator app. */
export interface App {
  readonly id: string;
  readonly secret: string;
  /** Of the last code that was given to anybody. */
  lastStep: number;
}

/** An account as its owner knows it. Lists hold what is possible; the last one is the newest. */
export interface Account {
  /** Null until an answer has named it. */
  id: string | null;
  emails: readonly string[];
  passwords: readonly string[];
  /** Values of `user_metadata.counter`. */
  counters: readonly number[];
  /** Null for none; both where the answer of its addition or removal was lost. */
  apps: readonly (App | null)[];
  confirmed: readonly boolean[];
  mayBeGone: boolean;
  readonly pastEmails: string[];
  readonly pastPasswords: string[];
}

/** One simulated client. */
export interface Person {
  readonly name: string;
  readonly world: World;
  readonly ledger: Ledger;
  readonly random: Random;
  readonly devices: readonly [Device, Device];
  /** With the service key. */
  readonly admin: SupabaseClient;
  /** Accounts that this person has had. */
  generation: number;
  /** Emails that this person has asked for. */
  requests: number;
  account: Account | null;
  /** The last requests, for whoever has to find out what went wrong. */
  readonly history: string[];
}

/** Somebody new, without an account. */
export function createPerson(name: string, world: World, ledger: Ledger, random: Random): Person {
  const via = viaGateways(world, random);
  const person: Person = {
    name,
    world,
    ledger,
    random,
    devices: [createDevice(via, 'implicit'), createDevice(via, 'pkce')],
    admin: supabaseClient(publicUrl, {}, serviceKey, via).auth.admin,
    generation: 0,
    requests: 0,
    account: null,
    history: [],
  };
  return person;
}

/** A device that nobody has used yet. */
export function newDevice({ world, random }: Person): Device {
  return createDevice(viaGateways(world, random), 'implicit');
}

function viaGateways(world: World, random: Random): typeof fetch {
  return (...request) => world.fetch(random.pick, ...request);
}

function createDevice(via: typeof fetch, flowType: 'implicit' | 'pkce'): Device {
  const items = new Map<string, string>();
  const storage = {
    getItem: (name: string) => items.get(name) ?? null,
    setItem: (name: string, value: string) => void items.set(name, value),
    removeItem: (name: string) => void items.delete(name),
  };
  const supabase = supabaseClient(publicUrl, { storage, storageKey: 'session', flowType }, undefined, via);
  return {
    supabase,
    session: () => JSON.parse(items.get('session') ?? 'null') as StoredSession | null,
    keep(session) {
      if (session === null) items.delete('session');
      else items.set('session', JSON.stringify(session));
    },
    isDoubtful: false,
  };
}

/** What the client's functions resolve to. */
interface ClientAnswer {
  // biome-ignore lint/suspicious/noExplicitAny: a storm reads what it expects
  readonly data: any;
  readonly error: {
    readonly status?: number;
    readonly code?: string;
    readonly name: string;
    readonly message: string;
  } | null;
}

/**
 * Makes a request and returns its answer.
 *
 * @param expected Codes of refusals that the model can explain; any other is a violation.
 * @throws Lost, or Refused.
 */
export async function ask(
  person: Person,
  what: string,
  request: () => Promise<ClientAnswer>,
  expected: readonly string[] = [],
  // biome-ignore lint/suspicious/noExplicitAny: as above
): Promise<any> {
  const began = new Date();
  const note = (end: string) => remember(person, `${began.toISOString().slice(14, 23)} ${what}: ${end}`);
  const { data, error } = await request();
  if (error === null) {
    note('done');
    person.ledger.count('requests answered');
    return data;
  }
  const { status = 0, code = error.name } = error;
  note(`${status} ${code}`);
  // Nobody else works on this account: it was a request whose client has gone.
  if (status === 0 || status >= 500 || code === 'conflict') {
    person.ledger.count('answers lost');
    if (person.ledger.wasCalm(began.getTime()))
      person.ledger.count(`lost in calm weather: ${what}: ${status} ${error.message}`);
    throw new Lost(what);
  }
  if (expected.includes(code)) person.ledger.count('requests refused');
  else violation(person, `${what} was refused: ${status} ${code}`);
  throw new Refused(code);
}

/** Keeps the last requests. */
export function remember(person: Person, line: string): void {
  person.history.push(line);
  if (person.history.length > 60) person.history.shift();
}

/** Notes what may never happen, with what led to it. */
export function violation(person: Person, what: string): void {
  person.ledger.violation([`${person.name}: ${what}`, ...person.history].join('\n    '));
}

/** Makes a request that must be refused. */
export async function expectRefusal(
  person: Person,
  what: string,
  request: () => Promise<ClientAnswer>,
  codes: readonly string[],
): Promise<void> {
  try {
    await ask(person, what, request, codes);
  } catch (error) {
    if (error instanceof Refused) return;
    throw error;
  }
  violation(person, `${what} was accepted`);
}

/** The account of somebody who has one. */
export function own(person: Person): Account {
  if (person.account === null) throw new NotNow();
  return person.account;
}

/** The newest of what is possible. */
export function newest<T>(values: readonly T[]): T {
  return values.at(-1) as T;
}

/** Takes over a session that was answered, once it is sure that it is this person's. */
export function adopt(person: Person, device: Device, session: StoredSession): void {
  const account = own(person);
  const claims = decodeJwt(session.access_token);
  account.id ??= session.user.id;
  const isOwn = session.user.id === account.id && claims.sub === account.id;
  if (!isOwn || !account.emails.includes(session.user.email) || claims.email !== session.user.email) {
    violation(person, `a session for somebody else: ${session.user.id} ${session.user.email}`);
  }
  person.ledger.count('sessions');
  device.keep(session);
  device.isDoubtful = false;
}

/** Signs in by password on a device. @throws Lost, or Refused. */
export async function signIn(person: Person, device: Device): Promise<void> {
  const { emails, passwords } = own(person);
  const credentials = { email: newest(emails), password: newest(passwords) };
  const data = await ask(person, 'sign-in by password', () => device.supabase.auth.signInWithPassword(credentials));
  adopt(person, device, data.session);
}

/** The account is gone, and whatever the devices had of it. */
export function forgetAccount(person: Person): void {
  for (const device of person.devices) device.keep(null);
  person.account = null;
}

/** Makes sure that a device has a session that is alive. */
export async function signedIn(person: Person, device: Device): Promise<void> {
  if (device.session() !== null && !device.isDoubtful) return;
  await signIn(person, device);
}

/** Sessions of other devices may have ended. */
export function doubtOthers(person: Person, device: Device | null = null): void {
  for (const other of person.devices) if (other !== device) other.isDoubtful = true;
}
