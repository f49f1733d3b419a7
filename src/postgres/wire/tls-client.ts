/**
 * The driver's client, with `sslmode=prefer` as libpq means it: each connection tries TLS first. One whose TLS fails is made again
 * without, and says nothing about the next, for whoever stands between us and the server can make one fail.
 */
import pg from 'pg';
import { prefersTls } from '../../config/connection-url.ts';

/** What the declarations of the driver leave out. */
interface Internals {
  connection: pg.Connection;
  ssl: unknown;
  _connecting: boolean;
  _connectionError: boolean;
}

/** Null where it is connected. */
type Connected = (problem: Error | null) => void;

/** The client. */
export class TlsClient extends pg.Client {
  readonly #options: pg.ClientConfig;

  constructor(options: pg.ClientConfig = {}) {
    super(options);
    this.#options = options;
  }

  override connect(): Promise<TlsClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<TlsClient> | undefined {
    if (callback === undefined) {
      return new Promise((resolve, reject) => {
        this.connect((problem) => (problem ? reject(problem) : resolve(this)));
      });
    }
    super.connect((problem: Error | null) => {
      if (problem === null || !prefersTls(this.#options.connectionString ?? '') || !isOfTls(problem)) {
        callback(problem);
        return;
      }
      this.#forgetTls();
      super.connect(callback);
    });
    return undefined;
  }

  /** As if it had been made without TLS and not been connected. */
  #forgetTls(): void {
    const client = this as unknown as Internals;
    const { connection: failed } = client;
    failed.removeAllListeners();
    // It may fail in another way yet.
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

/** The server has no TLS, its handshake failed, or it does not let the login in this way: `hostnossl` in pg_hba.conf. */
function isOfTls(problem: Error & { readonly code?: string }): boolean {
  return messages.has(problem.message) || /^ERR_SSL_|^EPROTO$|^28000$/.test(problem.code ?? '');
}
