/** A subscriber that knows every state of the changing table, and finds what an event should not have been. */
import { isDeepStrictEqual } from 'node:util';
import { anonKey, serviceKey, token } from '../support/http.ts';
import { type Heard, overEvents, overSocket, type Result } from '../support/live.ts';
import { type History, type Item, owners, teams } from './changing-table.ts';

/** Somebody who may subscribe. */
export interface Person {
  readonly role: 'anon' | 'authenticated' | 'service_role';
  readonly sub?: string;
  readonly team?: string;
  readonly headers: Readonly<Record<string, string>>;
}

const members = owners.map(async (sub, at): Promise<Person> => {
  const claims = { role: 'authenticated', sub, team: teams[at % teams.length]! } as const;
  return { ...claims, headers: { apikey: anonKey, authorization: `Bearer ${await token(claims)}` } };
});

export const people: readonly Person[] = [
  ...(await Promise.all(members)),
  { role: 'anon', headers: { apikey: anonKey } },
  { role: 'service_role', headers: { apikey: serviceKey } },
];

/** The policies of the table, once more. */
function sees({ role, sub, team }: Person, item: Item, isOpen: boolean): boolean {
  if (role === 'service_role' || item.owner === null) return true;
  return role === 'authenticated' && (item.owner === sub || (isOpen && item.team === team));
}

const items = `items: itemCollection(first: 100, filter: { amount: { gte: $least } }, orderBy: [{ id: AscNullsLast }]) {
  edges { node { id owner team amount } }
}`;
const queries = {
  /** Another answer after each commit. */
  version: `subscription($least: Int!) { version: versionByPk(id: 1) { n ${items} } }`,
  /** The same by slow runs: somebody nearly always comes during one. */
  slow: `subscription($least: Int!) { version: versionByPk(id: 1) { n pause ${items} } }`,
  /** Another answer only where the person sees the change. */
  items: `subscription($least: Int!) { ${items} }`,
};

/** How to subscribe over either protocol. */
export type Subscribe = Readonly<Record<'events' | 'socket', typeof overEvents>>;

/** As clients do. */
export const subscribing: Subscribe = { events: overEvents, socket: overSocket };

export interface WatcherOptions {
  readonly url: string;
  readonly history: History;
  readonly person: Person;
  readonly kind: keyof typeof queries;
  readonly over: 'events' | 'socket';
  readonly least: number;
  readonly subscribe: Subscribe;
  /** Whether somebody who came at this time, in milliseconds since the epoch, may have been refused. */
  readonly mayRefuse: (since: number) => boolean;
  readonly found: (fault: string) => void;
}

/** A subscription. */
export class Watcher {
  readonly #options: WatcherOptions;
  readonly #heard: Heard;
  readonly #ends: (() => Promise<void>)[] = [];
  /** No event may be older: what it has seen, or what was committed before it came. */
  #version: number;
  #last: unknown = null;
  readonly #since = Date.now();
  events = 0;
  isOver = false;
  /** Resolves when all events have been read. */
  readonly read: Promise<void>;

  constructor(options: WatcherOptions) {
    this.#options = options;
    this.#version = options.history.committed;
    const { url, person, kind, over, least, subscribe } = options;
    const given = { query: queries[kind], variables: { least }, headers: person.headers };
    this.#heard = subscribe[over](url, given, (end) => this.#ends.push(end));
    this.read = this.#read();
  }

  async leave(): Promise<void> {
    this.isOver = true;
    for (const end of this.#ends.splice(0)) await end();
    await this.read;
  }

  /** Whether its last event is what it sees at this version. */
  async has(n: number): Promise<boolean> {
    return isDeepStrictEqual(this.#last, await this.#view(n)) && (this.#options.kind === 'items' || this.#version >= n);
  }

  get isOfAnybody(): boolean {
    return this.#options.person.role === 'anon';
  }

  get isSlow(): boolean {
    return this.#options.kind === 'slow';
  }

  get name(): string {
    const { person, kind, over, least } = this.#options;
    return `${person.sub ?? person.role}, ${kind} from ${least} over ${over}`;
  }

  /** What this one sees at a version; undefined: nothing, or there never was one. */
  async #view(n: number): Promise<readonly Item[] | undefined> {
    const { history, person, least } = this.#options;
    const state = await history.at(n);
    if (person.role === 'anon' && state?.isPublic === false) return undefined;
    return state?.items.filter((item) => item.amount >= least && sees(person, item, state.isOpen));
  }

  async #read(): Promise<void> {
    const ended = this.#heard.end.then((end) => ({ end }));
    for (;;) {
      const result: Result = await Promise.race([this.#heard.next(), ended]);
      if (this.isOver) return;
      const problem = 'end' in result ? result.end : result.errors;
      if (problem !== undefined) {
        this.isOver = true;
        // This process stood still before it had sent the request.
        const isLate = 'end' in result && result.end?.status === 408;
        const isRefused = this.events === 0 && this.#options.mayRefuse(this.#since);
        if (!isLate && !isRefused && !(await this.#mayEnd())) this.#found('an end', problem);
        return;
      }
      this.events += 1;
      await this.#check(result.data);
    }
  }

  /** Whether there was a version that it may not see. */
  async #mayEnd(): Promise<boolean> {
    const { history } = this.#options;
    const newest = await history.load();
    for (let n = this.#version; n <= newest; n += 1) if ((await this.#view(n)) === undefined) return true;
    return false;
  }

  async #check(data: Result): Promise<void> {
    const version: number | undefined = data.version?.n;
    const seen: readonly Item[] = (data.version ?? data).items.edges.map(({ node }: Result) => node);
    if (version === undefined) return this.#checkItems(seen);
    const view = await this.#view(version);
    if (version < this.#version) this.#found(`version ${version} after ${this.#version}`, seen);
    else if (view === undefined) this.#found(`version ${version}, which it may not see or nobody has committed`, seen);
    else if (!isDeepStrictEqual(seen, view))
      this.#found(`at version ${version} instead of ${JSON.stringify(view)}`, seen);
    this.#version = version;
    this.#last = seen;
  }

  /** Without a version: some state since the last event has to be this. */
  async #checkItems(seen: readonly Item[]): Promise<void> {
    if (isDeepStrictEqual(seen, this.#last)) this.#found('the same twice', seen);
    this.#last = seen;
    const { history } = this.#options;
    await history.load();
    for (let n = this.#version; n <= history.newest; n += 1) {
      if (!isDeepStrictEqual(seen, await this.#view(n))) continue;
      this.#version = n;
      return;
    }
    this.#found(`no state since version ${this.#version}`, seen);
  }

  #found(what: string, detail: unknown): void {
    const text = detail instanceof Error ? String(detail) : JSON.stringify(detail);
    this.#options.found(`${this.name}: ${what}: ${text}`);
  }
}
