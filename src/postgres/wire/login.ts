/**
 * How new connections to one server log in. The connection string may be replaced while the gateway runs, and the
 * password of a role is changed in the database and here one after the other: where one of the two is refused, the last
 * one that worked is used for a while. So no connection fails between the two steps, whichever comes first.
 */
import type { Config } from '../../config/config.ts';
import { forDriver } from '../../config/connection-url.ts';

/** How long after a refusal connections use the last string that worked, in milliseconds. */
const avoidMs = 1000;

/** The connection string of a server. */
export class Login {
  readonly #read: () => string;
  /** What was read last: each use of a connection asks, and parsing takes 4 µs. */
  #last: { readonly read: string; readonly present: string } | null = null;
  /** The last one that was not refused. */
  #worked: string | null = null;
  /** Refused a moment ago. */
  #avoided: { readonly text: string; readonly until: number } | null = null;
  readonly #onReplaced = new Set<() => void>();

  /** @param text A function if it may be replaced. */
  constructor(text: string | (() => string)) {
    this.#read = typeof text === 'string' ? () => text : text;
  }

  /** For a new connection, as the driver takes it. */
  get text(): string {
    const present = this.#present();
    const isAvoided = this.#avoided?.text === present && performance.now() < this.#avoided.until;
    return isAvoided && this.#worked !== null ? this.#worked : present;
  }

  /** A connection was made. */
  made(text: string): void {
    const isNew = this.#worked !== null && this.#worked !== text;
    this.#worked = text;
    if (isNew) for (const listener of [...this.#onReplaced]) listener();
  }

  /** The server refused the login: whether another string is worth an attempt. */
  refused(text: string): boolean {
    const present = this.#present();
    if (text !== present) {
      // The password has been changed: the present one may work by now.
      this.#avoided = null;
      return true;
    }
    if (this.#worked === null || this.#worked === present) return false;
    this.#avoided = { text, until: performance.now() + avoidMs };
    return true;
  }

  /** Whether a connection was made with a string that has been replaced by one that works. */
  isOld(text: string): boolean {
    return text !== this.#worked && this.#worked === this.#present();
  }

  #present(): string {
    const read = this.#read();
    if (this.#last?.read !== read) this.#last = { read, present: forDriver(read) };
    return this.#last.present;
  }

  /** Calls back when another string works than before. @returns Stops that. */
  onReplaced(listener: () => void): () => void {
    this.#onReplaced.add(listener);
    return () => void this.#onReplaced.delete(listener);
  }
}

/** Options that are connection strings; a number stands for the read replica at this place. */
export type LoginName = 'databaseUrl' | 'adminDatabaseUrl' | number;

const known = new WeakMap<Config, Map<LoginName, Login>>();

/** The login of an option, the same for all pools of a gateway. */
export function loginOf(config: Config, name: LoginName): Login {
  const logins = known.get(config) ?? new Map<LoginName, Login>();
  known.set(config, logins);
  const login =
    logins.get(name) ??
    new Login(() => (typeof name === 'number' ? (config.readReplicaUrls[name] ?? '') : config[name]));
  logins.set(name, login);
  return login;
}
