/**
 * The driver's client, with `sslmode=prefer` as in libpq: each connection tries TLS first and falls back to none. A
 * failure does not affect the next connection, because an attacker on the network could cause it.
 */
import pg from 'pg';
import { prefersTls } from '../../config/connection-url.ts';
import { type ConnectionWatch, timedOut } from './connection-failure.ts';
import type { Login } from './login.ts';

/** Members that the driver's type declarations lack. */
interface Internals {
  connection: pg.Connection;
  ssl: unknown;
  _connecting: boolean;
  _connectionError: boolean;
}

/** Share of a timeout that counts as reached, because timers are inexact. */
export const shareInTime = 0.9;

/** Null on success. */
type Connected = (problem: Error | null) => void;

/** The driver's options, and who is told of each attempt to connect. */
export interface TlsClientOptions extends Omit<pg.ClientConfig, 'connectionString'> {
  readonly login: Login;
  readonly watch?: ConnectionWatch;
}

/** The client. */
export class TlsClient extends pg.Client {
  readonly #options: TlsClientOptions & pg.ClientConfig;
  /** The connection string that it logs in with. */
  readonly loginText: string;

  constructor(given: TlsClientOptions) {
    const options = { ...given, connectionString: given.login.text };
    super(options);
    this.#options = options;
    this.loginText = options.connectionString;
  }

  override connect(): Promise<TlsClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<TlsClient> | undefined {
    if (callback === undefined) {
      return new Promise((resolve, reject) => {
        this.connect((problem) => (problem ? reject(problem) : resolve(this)));
      });
    }
    const { watch, login, connectionTimeoutMillis = 0 } = this.#options;
    const begun = performance.now();
    const settle = (problem: Error | null) => {
      if (problem === null) {
        watch?.made();
        login.made(this.loginText);
      } else {
        // The pool's timer closes the socket, which the driver takes for an end by the server.
        const isOver =
          connectionTimeoutMillis > 0 && performance.now() - begun >= connectionTimeoutMillis * shareInTime;
        watch?.failed(isOver && isEnd(problem) ? new Error(timedOut, { cause: problem }) : problem);
      }
      callback(problem);
    };
    super.connect((problem: Error | null) => {
      if (problem === null || !prefersTls(this.loginText) || !isOfTls(problem)) return settle(problem);
      this.#forgetTls();
      super.connect(settle);
    });
    return undefined;
  }

  /** Resets the state to that before TLS and connecting. */
  #forgetTls(): void {
    const client = this as unknown as Internals;
    const { connection: failed } = client;
    failed.removeAllListeners();
    // It may emit another error.
    failed.on('error', () => {});
    failed.stream.destroy();
    client.connection = new pg.Connection({ ...this.#options, ssl: false });
    client.ssl = false;
    client._connecting = false;
    client._connectionError = false;
  }
}

const messages: ReadonlySet<string> = new Set([
  'The server does not support SSL connections',
  'There was an error establishing an SSL connection',
  'Client network socket disconnected before secure TLS connection was established',
]);

/** The server has no TLS, the handshake failed, or pg_hba.conf refuses the login with TLS (`hostnossl`). */
function isOfTls(problem: Error & { readonly code?: string }): boolean {
  return messages.has(problem.message) || /^ERR_SSL_|^EPROTO$|^28000$/.test(problem.code ?? '');
}

function isEnd({ message }: Error): boolean {
  return message === 'Connection terminated unexpectedly';
}
