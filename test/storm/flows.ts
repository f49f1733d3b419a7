/**
 * What the clients of a storm do. Each flow is what a person does in one sitting: it begins with a settled model of the account
 * (settle.ts) and ends when it is through, or with the first answer that is lost.
 */
import { fromBase32, totpCode, totpStep } from '../../src/auth/secrets/totp.ts';
import {
  type Account, type App, adopt, ask, type Device, doubtOthers, expectRefusal, forgetAccount, Lost, NotNow, newDevice, newest, own, type Person, Refused, signedIn, signIn, violation,
} from './person.ts'; // biome-ignore format: a list of names
import { counterOf } from './settle.ts';
import { markOf, readEmail, type TokenEmail, useToken } from './use-token.ts';

/** A flow, and for whom it is. */
export interface Flow {
  readonly name: string;
  readonly for: 'nobody' | 'unconfirmed' | 'confirmed';
  /** How often, in comparison with the others. */
  readonly weight: number;
  run(person: Person, device: Device): Promise<void>;
}

/** All of them. */
export const flows: readonly Flow[] = [
  { name: 'sign-up', for: 'nobody', weight: 1, run: signUp },
  { name: 'confirmation', for: 'unconfirmed', weight: 5, run: confirm },
  { name: 'sign-in before the confirmation', for: 'unconfirmed', weight: 1, run: signInTooEarly },
  { name: 'sign-in by password', for: 'confirmed', weight: 3, run: signIn },
  { name: 'sign-in by email', for: 'confirmed', weight: 4, run: signInByEmail },
  { name: 'recovery', for: 'confirmed', weight: 3, run: recover },
  { name: 'change of the password', for: 'confirmed', weight: 4, run: changePassword },
  { name: 'change of the address', for: 'confirmed', weight: 4, run: changeEmail },
  { name: 'change of the metadata', for: 'confirmed', weight: 2, run: changeMetadata },
  { name: 'refreshes that race', for: 'confirmed', weight: 4, run: raceRefreshes },
  { name: 'theft of a refresh token', for: 'confirmed', weight: 2, run: stealRefreshToken },
  { name: 'sign-out', for: 'confirmed', weight: 3, run: signOut },
  { name: 'second factor', for: 'confirmed', weight: 3, run: changeFactor },
  { name: 'trespassing', for: 'confirmed', weight: 2, run: trespass },
  { name: 'deletion', for: 'confirmed', weight: 1, run: beDeleted },
];

async function signUp(person: Person, device: Device): Promise<void> {
  person.generation += 1;
  person.account = {
    id: null,
    emails: [`${person.name}.${person.generation}@storm.test`],
    passwords: [newPassword(person)],
    counters: [0],
    apps: [null],
    confirmed: [false],
    mayBeGone: false,
    pastEmails: [],
    pastPasswords: [],
  };
  await confirmByEmail(person, device, await requestSignUp(person, device));
}

/** Asked again by somebody who is not confirmed, it sends another email and changes nothing. @returns The mark of the email. */
async function requestSignUp(person: Person, device: Device): Promise<string> {
  const account = own(person);
  const [email, password] = [newest(account.emails), newest(account.passwords)];
  const emailRedirectTo = markOf(person);
  const given = { email, password, options: { emailRedirectTo, data: { counter: newest(account.counters) } } };
  const { user } = await ask(person, 'sign-up', () => device.supabase.auth.signUp(given));
  if (account.id !== null && user.id !== account.id)
    violation(person, `another id: ${user.id} instead of ${account.id}`);
  account.id = user.id;
  return emailRedirectTo;
}

async function confirm(person: Person, device: Device): Promise<void> {
  // Of an account that may not exist a request for another email says nothing.
  const isKnown = own(person).id !== null && person.random.chance(0.5);
  await confirmByEmail(person, device, await (isKnown ? resend : requestSignUp)(person, device));
}

async function resend(person: Person, device: Device): Promise<string> {
  const [email, emailRedirectTo] = [newest(own(person).emails), markOf(person)];
  const given = { type: 'signup', email, options: { emailRedirectTo } };
  await ask(person, 'resend', () => device.supabase.auth.resend(given));
  return emailRedirectTo;
}

async function confirmByEmail(person: Person, device: Device, mark: string): Promise<void> {
  const account = own(person);
  const email = await readEmail(person, newest(account.emails), mark);
  account.confirmed = [false, true];
  // Of an account that is confirmed by a link the password is not kept.
  await useToken(person, device, email, newest(account.emails), ['code']);
  account.confirmed = [true];
}

async function signInTooEarly(person: Person, device: Device): Promise<void> {
  const { id, emails, passwords } = own(person);
  const credentials = { email: newest(emails), password: newest(passwords) };
  const codes = id === null ? ['email_not_confirmed', 'invalid_credentials'] : ['email_not_confirmed'];
  const request = () => device.supabase.auth.signInWithPassword(credentials);
  await expectRefusal(person, 'sign-in before the confirmation', request, codes);
}

async function signInByEmail(person: Person, device: Device): Promise<void> {
  const [email, emailRedirectTo] = [newest(own(person).emails), markOf(person)];
  const options = { shouldCreateUser: false, emailRedirectTo };
  await ask(person, 'one-time sign-in', () => device.supabase.auth.signInWithOtp({ email, options }));
  await useToken(person, device, await readEmail(person, email, emailRedirectTo), email);
}

async function recover(person: Person, device: Device): Promise<void> {
  const [email, redirectTo] = [newest(own(person).emails), markOf(person)];
  await ask(person, 'recovery', () => device.supabase.auth.resetPasswordForEmail(email, { redirectTo }));
  await useToken(person, device, await readEmail(person, email, redirectTo), email);
  await raised(person, device);
  await setPassword(person, device);
}

async function changePassword(person: Person, device: Device): Promise<void> {
  await signedIn(person, device);
  await raised(person, device);
  await setPassword(person, device);
}

async function setPassword(person: Person, device: Device): Promise<void> {
  const account = own(person);
  const [old, password] = [newest(account.passwords), newPassword(person)];
  account.passwords = [old, password];
  doubtOthers(person, device);
  await ask(person, 'new password', () => device.supabase.auth.updateUser({ password }));
  account.passwords = [password];
  account.pastPasswords.push(old);
  await expectEnded(person, otherOf(person, device));
}

async function changeEmail(person: Person, device: Device): Promise<void> {
  const { random } = person;
  const account = own(person);
  await signedIn(person, device);
  await raised(person, device);
  const [old, email] = [newest(account.emails), newAddress(person)];
  const emailRedirectTo = markOf(person);
  await ask(person, 'new address', () => device.supabase.auth.updateUser({ email }, { emailRedirectTo }));
  const read = async (address: string) => ({ address, email: await readEmail(person, address, emailRedirectTo) });
  const [first, second] = random.shuffle([await read(old), await read(email)]) as [EmailTo, EmailTo];
  // The links lead to the device that asked for them.
  if (await useToken(person, device, first.email, first.address)) violation(person, 'one address was enough');
  if (random.chance(0.1)) return;
  account.emails = [old, email];
  if (!(await useToken(person, device, second.email, second.address)))
    violation(person, 'two addresses were not enough');
  account.emails = [email];
  account.pastEmails.push(old);
}

interface EmailTo {
  readonly address: string;
  readonly email: TokenEmail;
}

async function changeMetadata(person: Person, device: Device): Promise<void> {
  const account = own(person);
  await signedIn(person, device);
  const before = await ask(person, 'own user', () => device.supabase.auth.getUser());
  const counter = counterOf(person, before.user);
  account.counters = [counter, counter + 1];
  const change = () => device.supabase.auth.updateUser({ data: { counter: counter + 1 } });
  const { user } = await ask(person, 'new metadata', change);
  account.counters = [counterOf(person, user)];
}

/** All get the same next token, and the one before gives it again to whom it was lost. */
async function raceRefreshes(person: Person, device: Device): Promise<void> {
  const { random } = person;
  await signedIn(person, device);
  const session = device.session()!;
  const { refresh_token } = session;
  const racers = Array.from({ length: random.int(2, 4) }, () => newDevice(person));
  const refresh = (racer: Device) =>
    ask(person, 'refresh', () => racer.supabase.auth.refreshSession({ refresh_token }));
  const ends = await Promise.allSettled(racers.map(refresh));
  const answers = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
  for (const answer of answers) adopt(person, device, answer.session);
  const tokens = new Set(answers.map((answer) => answer.session.refresh_token));
  if (tokens.size > 1 || tokens.has(refresh_token))
    violation(person, `a race gave ${[...tokens]} for ${refresh_token}`);
  if (tokens.size === 0) throw new Lost('refresh');
}

/** Whoever uses a token of long ago has stolen it, or was robbed: the session ends. */
async function stealRefreshToken(person: Person, device: Device): Promise<void> {
  await signedIn(person, device);
  const { refresh_token } = device.session()!;
  for (const _ of ['once', 'twice']) {
    adopt(person, device, (await ask(person, 'refresh', () => device.supabase.auth.refreshSession())).session);
  }
  const active = device.session()!.refresh_token;
  device.isDoubtful = true;
  for (const token of [refresh_token, active]) {
    const refresh = () => newDevice(person).supabase.auth.refreshSession({ refresh_token: token });
    await expectRefusal(person, 'use of a stolen token', refresh, ['refresh_token_already_used']);
  }
}

async function signOut(person: Person, device: Device): Promise<void> {
  const scope = person.random.pick(['local', 'global', 'others'] as const);
  await signedIn(person, device);
  const session = device.session()!;
  const other = otherOf(person, device);
  if (scope !== 'others') device.isDoubtful = true;
  if (scope !== 'local') other.isDoubtful = true;
  const signOutOf = async () => ({ data: null, ...(await device.supabase.auth.signOut({ scope })) });
  await ask(person, `sign-out (${scope})`, signOutOf);
  if (scope !== 'others') {
    device.keep(session);
    await expectEnded(person, device);
  }
  if (scope !== 'local') await expectEnded(person, other);
}

/** Adds an app, or removes the one there is. */
async function changeFactor(person: Person, device: Device): Promise<void> {
  await signedIn(person, device);
  const app = newest(own(person).apps);
  if (app === null) await addApp(person, device);
  else await removeApp(person, device, app);
}

async function addApp(person: Person, device: Device): Promise<void> {
  const account = own(person);
  const given = { factorType: 'totp', friendlyName: `app ${person.random.int(0, 1_000_000_000)}` };
  const { id, totp } = await ask(person, 'new app', () => device.supabase.auth.mfa.enroll(given));
  const app: App = { id, secret: totp.secret, lastStep: 0 };
  account.apps = [null, app];
  await giveCode(person, device, app);
  account.apps = [app];
}

async function removeApp(person: Person, device: Device, app: App): Promise<void> {
  const account = own(person);
  await raised(person, device);
  account.apps = [app, null];
  await ask(person, 'removal of the app', () => device.supabase.auth.mfa.unenroll({ factorId: app.id }));
  account.apps = [null];
}

/** Gives a code of the app where the account has one and the session has not seen it. */
async function raised(person: Person, device: Device): Promise<void> {
  const app = newest(own(person).apps);
  if (app === null) return;
  const level = () => device.supabase.auth.mfa.getAuthenticatorAssuranceLevel();
  const { currentLevel } = await ask(person, 'level', level);
  if (currentLevel !== 'aal2') await giveCode(person, device, app);
}

/** Gives a code that nobody has given before, sometimes twice at once. */
async function giveCode(person: Person, device: Device, app: App): Promise<void> {
  const step = Math.max(app.lastStep + 1, totpStep(Date.now()) - 1);
  // The next one is accepted already; for another one half a minute has to pass.
  if (step > totpStep(Date.now()) + 1) throw new NotNow();
  app.lastStep = step;
  const code = totpCode(fromBase32(app.secret)!, step);
  const places = Array.from({ length: person.random.chance(0.3) ? 2 : 1 }, () => copyOf(person, device));
  // The other session ends where it has not been raised.
  doubtOthers(person, device);
  const give = ({ supabase }: Device) =>
    ask(
      person,
      'code of the app',
      () => supabase.auth.mfa.challengeAndVerify({ factorId: app.id, code }),
      codeRefusals,
    );
  const ends = await Promise.allSettled(places.map(give));
  for (const end of ends) {
    if (end.status === 'rejected') continue;
    person.ledger.accepted(`${app.id} ${step}`);
    adopt(person, device, end.value);
  }
  if (ends.some(({ status }) => status === 'fulfilled')) return;
  const reasons = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : []));
  if (reasons.every((reason) => reason instanceof Refused)) {
    // Half a minute may have passed on the way.
    if (totpStep(Date.now()) - 1 <= step) violation(person, 'the code of the app was refused');
    throw new NotNow();
  }
  throw reasons.find((reason) => !(reason instanceof Refused));
}

const codeRefusals = ['mfa_verification_failed'];

/** Another tab, in which the same session is open. */
function copyOf(person: Person, device: Device): Device {
  const copy = newDevice(person);
  copy.keep(device.session());
  return copy;
}

/** Tries what must not work: with what is no longer true, and with what is somebody else's. */
async function trespass(person: Person, device: Device): Promise<void> {
  const { random } = person;
  const { emails, passwords, pastEmails, pastPasswords } = own(person);
  const { auth } = newDevice(person).supabase;
  const [email, password] = [newest(emails), newest(passwords)];
  const stranger = { email: `p${random.int(0, 99)}.1@storm.test`, password };
  const attempts = [
    ...pastEmails.map((past) => ({ email: past, password })),
    ...pastPasswords.map((past) => ({ email, password: past })),
    ...(stranger.email === email ? [] : [stranger]),
  ];
  if (attempts.length === 0) throw new NotNow();
  const attempt = random.pick(attempts);
  const codes = ['invalid_credentials', 'email_not_confirmed'];
  await expectRefusal(person, 'sign-in with something else', () => auth.signInWithPassword(attempt), codes);
  const guess = { email, token: '000000', type: 'recovery' };
  await expectRefusal(person, 'a guessed code', () => auth.verifyOtp(guess), ['otp_expired']);
  await signedIn(person, device);
}

async function beDeleted(person: Person, device: Device): Promise<void> {
  const account = own(person);
  await signedIn(person, device);
  account.mayBeGone = true;
  await ask(person, 'deletion', () => person.admin.deleteUser(account.id));
  await expectEnded(person, device);
  const credentials = { email: newest(account.emails), password: newest(account.passwords) };
  const signInAgain = () => newDevice(person).supabase.auth.signInWithPassword(credentials);
  await expectRefusal(person, 'sign-in after the deletion', signInAgain, ['invalid_credentials']);
  forgetAccount(person);
}

/** The session of a device must be over, for its access token and its refresh token. */
async function expectEnded(person: Person, device: Device): Promise<void> {
  const session = device.session();
  device.keep(null);
  if (session === null) return;
  const { auth } = newDevice(person).supabase;
  const ended = ['AuthSessionMissingError', 'session_not_found', 'user_not_found', 'refresh_token_not_found'];
  await expectRefusal(person, 'user of an ended session', () => auth.getUser(session.access_token), ended);
  const { refresh_token } = session;
  await expectRefusal(person, 'refresh of an ended session', () => auth.refreshSession({ refresh_token }), ended);
}

function otherOf({ devices }: Person, device: Device): Device {
  return device === devices[0] ? devices[1] : devices[0];
}

function newPassword({ random }: Person): string {
  return `password ${random.int(0, 1_000_000_000)}`;
}

/** Without a word of six digits, which would be read as the code of an email that names the address. */
function newAddress(person: Person): string {
  return `${person.name}.${person.generation}.r${person.random.int(0, 1_000_000_000)}@storm.test`;
}

/** Whether a flow is for somebody in this state. */
export function suits(flow: Flow, account: Account | null): boolean {
  if (account === null) return flow.for === 'nobody';
  return flow.for === (newest(account.confirmed) ? 'confirmed' : 'unconfirmed');
}
