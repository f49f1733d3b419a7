/**
 * People who sign up, confirm their address, recover their account and set a new password, through the published client. Two hooks
 * take part: a webhook decides who may sign up, and a function of the database adds a claim to every token.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import type { Random } from '../property/random.ts';
import { checkLinks, checkUsers, emptyOutbox } from '../storm/checks.ts';
import { kindOf, toTokenEmail } from '../storm/use-token.ts';
import { supabaseClient } from '../support/supabase-js.ts';
import { ask } from './clients.ts';
import { type End, ExpectedEmails } from './expected-emails.ts';
import type { Soak } from './soak-state.ts';

/** How many people there are at a time. */
const atOnce = 2;
const maxPauseMs = 2500;
/** How long somebody looks for an email. */
const patienceMs = 15_000;
/** One in so many may not sign up. */
const strangerShare = 8;
const stranger = 'stranger.';

/** What the client's functions resolve to. */
interface Reply {
  // biome-ignore lint/suspicious/noExplicitAny: a soak reads what it expects
  readonly data: any;
  readonly error: { readonly status?: number; readonly code?: string; readonly message: string } | null;
}

export class Members {
  readonly #soak: Soak;
  readonly #random: Random;
  readonly #expected = new ExpectedEmails();
  /** How each sign-up has ended, by address. */
  readonly #signUps = new Map<string, End>();
  #serial = 0;
  #heard = 0;

  constructor(soak: Soak, random: Random) {
    this.#soak = soak;
    this.#random = random;
    soak.servers.hook.answer(({ payload }) =>
      payload.user.email.startsWith(stranger) ? { body: { error: { http_code: 403, message: 'Not you' } } } : {},
    );
  }

  /** One after the other, until it is over. */
  async run(): Promise<void> {
    const random = this.#random;
    const follow = async () => {
      while (!this.#soak.isOver()) {
        await this.#beMember();
        await sleep(random.int(0, maxPauseMs));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, follow));
  }

  /** When nobody asks any more: nothing is on its way, nothing was lost, sent twice or left half-done. */
  async check(): Promise<void> {
    const { servers, ledger, cuts } = this.#soak;
    const { database, mail } = servers;
    const world = { ...database, ...mail };
    await emptyOutbox(world, ledger);
    this.#expected.check(mail, cuts, ledger);
    await checkLinks(world, ledger);
    if (!(await checkUsers(world, ledger))) ledger.violation('the database cannot be asked');
    this.#checkHook();
    await database.query('truncate storm.links, storm.changes');
    mail.forgetEmails();
    cuts.length = 0;
  }

  /** The webhook was called once for each sign-up; a repeated call has the id of the first. */
  #checkHook(): void {
    const { servers, ledger } = this.#soak;
    const { requests, unsigned } = servers.hook;
    if (unsigned.length > 0) ledger.violation(`${unsigned.length} calls of the webhook without a good signature`);
    const calls = new Map<string, Set<unknown>>();
    for (const { payload, headers } of requests.slice(this.#heard)) {
      const { email } = payload.user;
      calls.set(email, (calls.get(email) ?? new Set()).add(headers['webhook-id']));
      ledger.count('calls of the webhook');
    }
    this.#heard = requests.length;
    for (const email of calls.keys())
      if (!this.#signUps.has(email)) ledger.violation(`the webhook was asked about ${email}`);
    for (const [email, end] of this.#signUps) {
      const count = calls.get(email)?.size ?? 0;
      if (end !== 'lost' && count !== 1) ledger.violation(`the webhook was asked ${count} times about ${email}`);
    }
    this.#signUps.clear();
  }

  async #beMember(): Promise<void> {
    const { servers, ledger } = this.#soak;
    this.#serial += 1;
    const isStranger = this.#serial % strangerShare === 0;
    const email = `${isStranger ? stranger : 'member.'}${this.#serial}@soak.test`;
    const password = `password ${this.#serial}`;
    const { auth } = supabaseClient(servers.url);

    const signUp = () => auth.signUp({ email, password });
    this.#signUps.set(email, 'lost');
    const created = await this.#ask('confirmation', email, signUp, isStranger ? 403 : null);
    if (created === null) return;
    if (isStranger) return void ledger.violation(`${email} has signed up`);
    const code = await this.#readCode('confirmation', email);
    if (code === null) return;
    if (!(await this.#enter(email, () => auth.verifyOtp({ email, token: code, type: 'email' })))) return;
    if ((await this.#ask('recovery', email, () => auth.resetPasswordForEmail(email))) === null) return;
    const recovery = await this.#readCode('recovery', email);
    if (recovery === null) return;
    if (!(await this.#enter(email, () => auth.verifyOtp({ email, token: recovery, type: 'recovery' })))) return;
    const changed = () => auth.updateUser({ password: `new ${password}` });
    if ((await this.#ask('password_changed_notification', email, changed)) === null) return;
    if (!(await this.#enter(email, () => auth.refreshSession()))) return;
    await this.#ask(null, email, async () => ({ data: {}, ...(await auth.signOut()) }));
    ledger.count('members who got through');
  }

  /** Asks for a session: its token has the claim of the hook, and is good for the API. @returns Whether there is one. */
  async #enter(email: string, request: () => Promise<Reply>): Promise<boolean> {
    const { ledger } = this.#soak;
    const data = await this.#ask(null, email, request);
    if (data === null) return false;
    const { access_token } = data.session;
    const claims = decodeJwt(access_token);
    if (claims.email !== email || claims.plan !== `plan of ${data.user.id}`)
      ledger.violation(`${email}: a token with ${JSON.stringify(claims)}`);
    ledger.count('tokens with the claim of the hook');
    const variables = { n: this.#serial };
    const query = 'query ($n: Int!) { twice(n: $n) }';
    await ask(this.#soak, access_token, { kind: 'of a member', query, variables, data: { twice: 2 * variables.n } });
    return true;
  }

  /**
   * Makes a request. @param kind Of the email that it causes. @param refusal The status of the refusal that it must be answered with.
   * @returns What was answered; null where it was refused or lost.
   */
  async #ask(
    kind: string | null,
    email: string,
    request: () => Promise<Reply>,
    refusal: number | null = null,
    // biome-ignore lint/suspicious/noExplicitAny: as above
  ): Promise<any> {
    const { ledger } = this.#soak;
    const since = Date.now();
    const { data, error } = await request();
    const { status = 0 } = error ?? {};
    const end = error === null ? 'accepted' : status === 0 || status >= 500 ? 'lost' : 'refused';
    if (kind !== null) this.#expected.note(kind, email, end);
    if (kind === 'confirmation') this.#signUps.set(email, end);
    ledger.count(`requests of members: ${end}`);
    if (end === 'accepted') return data;
    const isCalm = ledger.wasCalm(since);
    if (status === 503 && isCalm) ledger.count('requests of members: refused while nothing happened');
    if (end === 'lost' ? isCalm && status !== 503 : status !== refusal)
      ledger.violation(`${email}: ${kind ?? 'a session'}: ${status} ${error?.code} ${error?.message}`);
    return null;
  }

  /** The code of an email; null where it does not come in time. */
  async #readCode(kind: string, email: string): Promise<string | null> {
    const { servers, ledger } = this.#soak;
    for (const until = Date.now() + patienceMs; Date.now() < until; await sleep(50)) {
      const message = servers.mail.emailsTo(email).find((each) => kindOf(each) === kind);
      if (message !== undefined) return toTokenEmail(message.parsed.html ?? '').code;
    }
    ledger.count('emails that took their time');
    return null;
  }
}
