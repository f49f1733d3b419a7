/**
 * Ends what a connection runs: asks the server to cancel it, over a socket of its own as the protocol demands, and ends the server
 * process where that is of no use.
 */
import pg from 'pg';
import { type DriverClient, isDirect } from './driver.ts';

/** The driver's connection, with the members its declarations leave out. */
interface CancelConnection {
  readonly stream: { destroy(): void };
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processID: number, secretKey: number): void;
  on(event: 'connect' | 'sslconnect' | 'end' | 'error', listener: () => void): void;
}

const giveUpAfterMs = 3000;

/**
 * Sends one cancel request for the client's server process; resolves when the server has closed the socket, which it
 * does after it has passed the request on.
 *
 * The connection may be used for another flight only after that: a request still on its way would hit the next one.
 *
 * @returns False when that is not certain; then throw the connection away.
 */
export function sendCancel(client: DriverClient): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = new pg.Connection({
      ssl: client.ssl,
      sslNegotiation: client.sslNegotiation,
    } as object) as unknown as CancelConnection;
    let sent = false;
    const finish = (certain: boolean) => {
      clearTimeout(timer);
      connection.stream.destroy();
      resolve(certain);
    };
    const timer = setTimeout(() => finish(false), giveUpAfterMs);
    const send = () => {
      connection.cancel(client.processID, client.secretKey);
      sent = true;
    };
    connection.on('connect', () => {
      if (!client.ssl) send();
      else if (client.sslNegotiation !== 'direct') connection.requestSsl();
    });
    connection.on('sslconnect', send);
    connection.on('error', () => finish(false));
    connection.on('end', () => finish(sent));
    if (client.host.startsWith('/')) connection.connect(`${client.host}/.s.PGSQL.${client.port}`);
    else connection.connect(client.port, client.host);
  });
}

/**
 * Closes a connection and ends its server process. Code of a user can catch that it is cancelled, and its process would go on
 * for ever, with its locks, also without a client. It cannot catch this.
 *
 * Behind a pooler only the connection is closed: the number that a pooler makes up may be that of somebody else's process.
 */
export function terminate(client: DriverClient, problem?: Error): void {
  client.connection.stream.destroy(problem);
  if (!isDirect(client)) return;
  const { host, port, user, password, database, ssl, sslNegotiation } = client;
  const other = new pg.Client({
    ...{ host, port, user, password, database, ssl, sslNegotiation, connectionTimeoutMillis: giveUpAfterMs },
    ...{ query_timeout: giveUpAfterMs, application_name: 'pgreflect' },
  } as object);
  // The server may be what does not answer.
  const ignore = () => {};
  other.on('error', ignore);
  other
    .connect()
    .then(() => other.query(`select pg_catalog.pg_terminate_backend(${Number(client.processID)})`))
    .catch(ignore)
    .finally(() => void other.end().catch(ignore));
}
