/**
 * Uses the token of an email: by its link, its code or its hash, sometimes from two places at once, sometimes once more
 * afterwards. One use at most may be accepted.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReceivedMessage } from '../support/smtp-server.ts';
import {
  adopt,
  ask,
  type Device,
  Lost,
  NotNow,
  newDevice,
  own,
  type Person,
  Refused,
  remember,
  type StoredSession,
  violation,
} from './person.ts';
import { publicUrl } from './world.ts';

/** What an email says. */
export interface TokenEmail {
  readonly code: string;
  readonly hash: string;
  readonly type: string;
  readonly link: string;
  /** Where the link leads in the end. */
  readonly redirectTo: string;
}

/** What became of the use: a session, the code of one, or nothing but an advice to use the other email too. */
type Accepted =
  | { readonly kind: 'session'; readonly session: StoredSession }
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'message' };

/** Ways to use a token. */
const allWays = ['link', 'code', 'hash'] as const;
type Way = (typeof allWays)[number];

/** How long a person waits for an email that is sent after the answer, before they ask for another one. */
const patienceMs = 3000;

/**
 * The email to an address that a request has caused.
 *
 * @param redirectTo By which it can be told from others: `markOf` of the request.
 */
export async function readEmail(person: Person, address: string, redirectTo: string): Promise<TokenEmail> {
  const until = Date.now() + (person.world.delivery === 'queue' ? patienceMs : 0);
  for (;;) {
    const emails = person.world.emailsTo(address).map(({ parsed }) => toTokenEmail(parsed.html ?? ''));
    const email = emails.findLast((each) => each.redirectTo === redirectTo);
    if (email) return email;
    if (Date.now() >= until) break;
    await sleep(50);
  }
  if (person.world.delivery === 'direct')
    violation(person, `no email to ${address}, although its request was answered`);
  throw new NotNow();
}

/** The link and the code of a body. */
export function toTokenEmail(html: string): TokenEmail {
  const [, href = ''] = /href="([^"]*\/auth\/v1\/verify[^"]*)"/.exec(html) ?? [];
  const link = href.replaceAll('&amp;', '&');
  const { searchParams } = new URL(link === '' ? publicUrl : link);
  const [code = ''] = /\b[0-9]{6}\b/.exec(html.replace(/href="[^"]*"/g, '')) ?? [];
  const [hash, type, redirectTo] = ['token', 'type', 'redirect_to'].map((name) => searchParams.get(name) ?? '');
  return { code, link, hash: hash!, type: type!, redirectTo: redirectTo! };
}

/** An address of the application that no other request names. */
export function markOf(person: Person): string {
  person.requests += 1;
  return `https://app.test/?request=${person.requests}`;
}

/** The kind that the gateway puts into a header. */
export function kindOf({ parsed }: Pick<ReceivedMessage, 'parsed'>): string {
  return parsed.headers.find(({ key }) => key === 'x-kind')?.value ?? '';
}

/**
 * Uses it.
 *
 * @param address That received the email.
 * @param ways In which it may be used.
 * @returns Whether there is a session now, on the device.
 */
export async function useToken(
  person: Person,
  device: Device,
  email: TokenEmail,
  address: string,
  ways: readonly Way[] = allWays,
): Promise<boolean> {
  const { random, ledger } = person;
  const way = random.pick(ways);
  const places = random.chance(0.3) ? [way, random.pick(ways)] : [way];
  const ends = await Promise.allSettled(places.map((each) => use(person, email, address, each)));
  const accepted = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
  for (const _ of accepted) ledger.accepted(`${email.hash} ${email.code}`);
  const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : []));
  for (const failure of failures) if (!(failure instanceof Refused) && !(failure instanceof Lost)) throw failure;
  const [first] = accepted;
  if (first === undefined) {
    if (failures.every((failure) => failure instanceof Refused))
      violation(person, `a token that nobody had used was refused: ${JSON.stringify({ ...email, address, places })}`);
    throw failures.find((failure) => failure instanceof Lost) ?? failures[0];
  }
  if (random.chance(0.3)) await useAgain(person, email, address);
  return enter(person, device, first);
}

/** Must be refused. */
async function useAgain(person: Person, email: TokenEmail, address: string): Promise<void> {
  try {
    await use(person, email, address, person.random.pick(allWays));
  } catch (error) {
    if (error instanceof Refused) return;
    throw error;
  }
  person.ledger.accepted(`${email.hash} ${email.code}`);
}

async function enter(person: Person, device: Device, accepted: Accepted): Promise<boolean> {
  if (accepted.kind === 'message') return false;
  if (accepted.kind === 'session') {
    adopt(person, device, accepted.session);
    return true;
  }
  const exchange = () => device.supabase.auth.exchangeCodeForSession(accepted.code);
  adopt(person, device, (await ask(person, 'exchange of a code', exchange)).session);
  return true;
}

/** @throws Lost, or Refused where the token is not good (any more). */
async function use(person: Person, email: TokenEmail, address: string, way: Way): Promise<Accepted> {
  if (way === 'link') return openLink(person, email);
  const { hash, code, type } = email;
  const given = way === 'code' ? { email: address, token: code, type } : { token_hash: hash, type };
  const { auth } = newDevice(person).supabase;
  const { session } = await ask(person, `${type} by ${way}`, () => auth.verifyOtp(given), ['otp_expired']);
  return session === null ? { kind: 'message' } : { kind: 'session', session };
}

/** As a browser does, but for following the answer. */
async function openLink(person: Person, { link, type }: TokenEmail): Promise<Accepted> {
  const location = await locationOf(person, link);
  const parameters = new URLSearchParams([...location.searchParams, ...new URLSearchParams(location.hash.slice(1))]);
  const refusal = parameters.get('error_code');
  remember(person, `${type} by link: ${refusal ?? 'done'}`);
  if (refusal === 'otp_expired') throw new Refused(refusal);
  const code = parameters.get('code');
  const [access_token, refresh_token] = [parameters.get('access_token'), parameters.get('refresh_token')];
  if (code !== null) return { kind: 'code', code };
  if (access_token !== null && refresh_token !== null) {
    return { kind: 'session', session: await complete(person, { access_token, refresh_token }) };
  }
  if (parameters.has('message')) return { kind: 'message' };
  throw new Lost('link');
}

async function locationOf({ world, random }: Person, link: string): Promise<URL> {
  try {
    const response = await world.fetch(random.pick, link, { redirect: 'manual' });
    await response.text();
    return new URL(response.headers.get('location') ?? publicUrl);
  } catch {
    throw new Lost('link');
  }
}

/** The fragment of a link says nothing of the user: the client asks. */
async function complete(
  person: Person,
  tokens: Pick<StoredSession, 'access_token' | 'refresh_token'>,
): Promise<StoredSession> {
  const { auth } = newDevice(person).supabase;
  const { session } = await ask(person, 'session of a link', () => auth.setSession(tokens));
  own(person);
  return session;
}
