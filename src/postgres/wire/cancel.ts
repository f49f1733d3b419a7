/** Cancels the running statement of a connection, or ends the server process if cancelling does not work. */
import pg from 'pg';
import { type DriverClient, isDirect } from './driver.ts';

/** The driver's connection, with members missing in its type declarations. */
interface CancelConnection {
  readonly stream: { destroy(): void };
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processID: number, secretKey: number): void;
  on(event: 'connect' | 'sslconnect' | 'end' | 'error', listener: () => void): void;
}

const giveUpAfterMs = 3000;

const endProcess = `select pg_catalog.pg_terminate_backend(pid) from pg_catalog.pg_stat_activity
  where pid operator(pg_catalog.=) $1::pg_catalog.int4
    and (wait_event is null or wait_event operator(pg_catalog.<>) 'SyncRep'::pg_catalog.text)`;

/**
 * Sends a cancel request for the client's server process. Resolves when the server closes the socket, which it does
 * after passing on the request.
 *
 * Reuse the connection only after that: a pending cancel request would hit the next flight.
 *
 * @returns False if this is uncertain; close the connection then.
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
 * Closes a connection and ends its server process. User code can catch a cancel and would run on with its locks, even
 * without a client; it cannot catch this. A commit that waits for a synchronous standby is left to wait: ended, it would show
 * others rows that a failover loses.
 *
 * Behind a pooler only the connection is closed: the pooler's made-up process id may be another client's.
 */
export function terminate(client: DriverClient, problem?: Error): void {
  client.connection.stream.destroy(problem);
  if (!isDirect(client)) return;
  const { host, port, user, password, database, ssl, sslNegotiation } = client;
  const other = new pg.Client({
    host,
    port,
    user,
    password,
    database,
    ssl,
    sslNegotiation,
    connectionTimeoutMillis: giveUpAfterMs,
    query_timeout: giveUpAfterMs,
    application_name: 'pgreflect',
  } as object);
  // The server may not answer this either.
  const ignore = () => {};
  other.on('error', ignore);
  other
    .connect()
    .then(() => other.query(endProcess, [client.processID]))
    .catch(ignore)
    .finally(() => void other.end().catch(ignore));
}
