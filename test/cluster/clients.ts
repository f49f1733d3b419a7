/**
 * The clients of a cluster: each goes on until it is told to stop, whatever happens to the servers, and writes down how it went.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { toTokenEmail } from '../storm/use-token.ts';
import type { MailServers } from '../storm/world.ts';
import { anonKey, token } from '../support/http.ts';
import { readEvents } from '../support/live.ts';
import { supabaseClient } from '../support/supabase-js.ts';
import type { Book } from './book.ts';

/** What a client needs. */
interface Setting {
  readonly url: string;
  readonly mail: MailServers;
  readonly book: Book;
  readonly stop: AbortSignal;
}

/** The longest wait of a client, in milliseconds; longer than any that the servers have configured. */
const patienceMs = 15_000;
/** Between two attempts of a client that was refused, in milliseconds. */
const retryMs = 100;

/** Of the addresses of newcomers. */
export const domain = 'cluster.test';

const ada = await token({ role: 'authenticated', name: 'ada' });
const bob = await token({ role: 'authenticated', name: 'bob' });

// biome-ignore lint/suspicious/noExplicitAny: clients read what they expect
type Data = any;

interface Answer {
  readonly data: Data;
  /** Of the log, after a write. */
  readonly position: string | null;
}

interface Request {
  readonly bearer?: string;
  /** Of the log, as an answer has named it. */
  readonly position?: string | null;
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** One request for GraphQL. @throws Error where it was not answered with data alone. */
async function ask(
  url: string,
  query: string,
  { bearer = ada, position = null, variables = {} }: Request = {},
): Promise<Answer> {
  const headers = { apikey: anonKey, authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
  const response = await fetch(`${url}/graphql/v1`, {
    method: 'POST',
    headers: position === null ? headers : { ...headers, 'pgreflect-lsn': position },
    body: JSON.stringify({ query, variables }),
    signal: AbortSignal.timeout(patienceMs),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text.slice(0, 200)}`);
  const { data, errors } = JSON.parse(text);
  if (errors !== undefined) throw new Error(errors[0].message);
  return { data, position: response.headers.get('pgreflect-lsn') };
}

/** Repeats something until the end, with a pause. */
async function repeat({ stop }: Setting, pauseMs: number, act: (turn: number) => Promise<unknown>): Promise<void> {
  for (let turn = 0; !stop.aborted; turn += 1) {
    const done = await act(turn);
    await sleep(done === null ? retryMs : pauseMs);
  }
}

const itemById = 'query ($id: Int!) { itemCollection(filter: {id: {eq: $id}}) { edges { node { name } } } }';

/** Reads a row that is always the same. */
function reader(setting: Setting): Promise<void> {
  const { book, url } = setting;
  return repeat(setting, 50, (turn) => {
    const id = (turn * 37) % 1000 || 1000;
    return book.attempt('reads', async () => {
      const { data } = await ask(url, itemById, { variables: { id } });
      const names = JSON.stringify(data.itemCollection.edges);
      if (names !== JSON.stringify([{ node: { name: `item ${id}` } }])) book.violation(`Item ${id} was ${names}.`);
    });
  });
}

function insert(url: string, client: string, number: number): Promise<Answer> {
  const query =
    'mutation ($entry: EntryInsertInput!) { insertIntoEntryCollection(objects: [$entry]) { affectedCount } }';
  return ask(url, query, { variables: { entry: { id: `${client}-${number}`, client, number } } });
}

const entries = `query ($filter: EntryFilter!) { entryCollection(filter: $filter) { edges { node { id } } } }`;

/** Writes rows, and looks at those of everybody. */
function writer(setting: Setting, client: string): Promise<void> {
  const { book, url } = setting;
  return repeat(setting, 100, async (turn) => {
    const done = await book.attempt('writes', () => insert(url, client, turn));
    if (done !== null) book.written.add(`${client}-${turn}`);
    await book.attempt('reads', async () => {
      const filter = { client: { eq: client }, number: { gt: turn - 10 } };
      const { data } = await ask(url, entries, { variables: { filter } });
      for (const { node } of data.entryCollection.edges) book.read.add(node.id);
    });
    return done;
  });
}

/** Writes a row, and reads it with the position that the answer has named. */
function rereader(setting: Setting, client: string): Promise<void> {
  const { book, url } = setting;
  return repeat(setting, 100, async (turn) => {
    const id = `${client}-${turn}`;
    const done = await book.attempt('writes', () => insert(url, client, turn));
    if (done === null) return null;
    book.written.add(id);
    for (let again = 0; again < 3; again += 1) {
      const found = await book.attempt('reads after a write', () =>
        ask(url, entries, { position: done.position, variables: { filter: { id: { eq: id } } } }),
      );
      if (found?.data.entryCollection.edges.length === 0) book.violation(`The own write ${id} was not read back.`);
      if (found !== null) break;
      await sleep(retryMs);
    }
    return done;
  });
}

/** Asks as one role after the other for rows that each sees differently. */
function roleChanger(setting: Setting): Promise<void> {
  const { book, url } = setting;
  const callers = [
    { name: 'ada', bearer: ada, rows: 20 },
    { name: 'anon', bearer: anonKey, rows: 0 },
    { name: 'bob', bearer: bob, rows: 20 },
  ] as const;
  return repeat(setting, 70, (turn) => {
    const { name, bearer, rows } = callers[turn % callers.length]!;
    return book.attempt('roles', async () => {
      const { data } = await ask(url, '{ noteCollection { edges { node { owner } } } }', { bearer });
      const owners: string[] = data.noteCollection.edges.map(({ node }: Data) => node.owner);
      if (owners.length !== rows || owners.some((owner) => owner !== name))
        book.violation(`${name} got the notes of ${owners.join(', ')}.`);
    });
  });
}

/** Signs up, confirms the address with the code of the email, refreshes, and signs in by password: a new account each time. */
function newcomer(setting: Setting, client: string): Promise<void> {
  const { book, url, mail } = setting;
  const via: typeof fetch = (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(patienceMs) });
  const password = 'a good password';
  return repeat(setting, 300, async (turn) => {
    const { auth } = supabaseClient(url, {}, anonKey, via);
    const email = `${client}-${turn}@${domain}`;
    const step = (act: () => Promise<Data>) =>
      book.attempt('accounts', async () => {
        const { data, error } = await act();
        if (error === null) return data;
        const { status = 0, name, message } = error;
        // After an answer that was lost, the next attempt is another account: nothing else is a reason to refuse.
        if (status >= 400 && status < 500) book.violation(`${email}: ${status} ${name} ${message}`);
        throw new Error(`${status} ${message}`);
      });
    if ((await step(() => auth.signUp({ email, password }))) === null) return null;
    book.signedUp.add(email);
    const code = await emailedCode(mail, email, setting.stop);
    if (code === null) return null;
    if ((await step(() => auth.verifyOtp({ email, token: code, type: 'email' }))) === null) return null;
    book.confirmed.add(email);
    for (let again = 0; again < 3; again += 1) if ((await step(() => auth.refreshSession())) === null) return null;
    const signedIn = await step(() => auth.signInWithPassword({ email, password }));
    if (signedIn !== null && signedIn.user.email !== email)
      book.violation(`${email} was signed in as ${signedIn.user.email}.`);
    return signedIn;
  });
}

/** The code that was sent to an address; null: none before the end. */
async function emailedCode({ emailsTo }: MailServers, address: string, stop: AbortSignal): Promise<string | null> {
  while (!stop.aborted) {
    const [email] = emailsTo(address);
    if (email !== undefined) return toTokenEmail(email.parsed.html ?? '').code;
    await sleep(50);
  }
  return null;
}

const countUp = `mutation ($board: Int!, $value: Int!) {
  updateBoardCollection(set: {value: $value}, filter: {id: {eq: $board}}) { affectedCount }
}`;

/** Counts the boards up, one after the other. */
function counter(setting: Setting, boards: readonly number[]): Promise<void> {
  const { book, url } = setting;
  return repeat(setting, 100, async (turn) => {
    const board = boards[turn % boards.length]!;
    const variables = { board, value: turn };
    const done = await book.attempt('writes', () => ask(url, countUp, { variables }));
    if (done !== null) book.boards.set(board, turn);
    return done;
  });
}

/** Watches a board, and comes back when the stream has ended. Its stop comes later than that of the others. */
async function watcher({ url, book, stop }: Setting, board: number): Promise<void> {
  const query = `subscription { boardCollection(filter: {id: {eq: ${board}}}) { edges { node { value } } } }`;
  while (!stop.aborted) {
    await book.attempt('live queries', async () => {
      const response = await fetch(`${url}/graphql/v1`, {
        method: 'POST',
        headers: {
          apikey: anonKey,
          authorization: `Bearer ${ada}`,
          accept: 'text/event-stream',
          'content-type': 'application/json',
        },
        body: JSON.stringify({ query }),
        signal: stop,
      });
      if (response.status !== 200) throw new Error(`${response.status} ${(await response.text()).slice(0, 200)}`);
      try {
        let last = -1;
        for await (const { event, data } of readEvents(response.body!)) {
          if (event !== 'next') continue;
          const { data: answer, errors } = JSON.parse(data);
          if (errors !== undefined) continue;
          const { value } = answer.boardCollection.edges[0].node;
          if (value < last) book.violation(`Board ${board} went from ${last} back to ${value}.`);
          last = value;
          book.live.set(board, value);
        }
      } catch {
        // The stream was cut; what counts is how long it takes to get the next one.
      }
    });
    await sleep(retryMs);
  }
}

/** Two parts, because live queries have to end at the state that the last write has left. */
export interface Clients {
  stopWriting(): Promise<void>;
  stopWatching(): Promise<void>;
}

/** Starts all clients. */
export function startClients({ url, mail }: Pick<Setting, 'url' | 'mail'>, book: Book): Clients {
  const [busy, watching] = [new AbortController(), new AbortController()];
  const setting: Setting = { url, mail, book, stop: busy.signal };
  const boards = [1, 2, 3, 4];
  const working = [
    reader(setting),
    reader(setting),
    ...['w1', 'w2'].map((client) => writer(setting, client)),
    ...['o1', 'o2'].map((client) => rereader(setting, client)),
    roleChanger(setting),
    roleChanger(setting),
    ...['n1', 'n2'].map((client) => newcomer(setting, client)),
    counter(setting, boards),
  ];
  const watchers = boards.map((board) => watcher({ ...setting, stop: watching.signal }, board));
  return {
    async stopWriting() {
      busy.abort();
      await Promise.all(working);
    },
    async stopWatching() {
      watching.abort();
      await Promise.all(watchers);
    },
  };
}
