/** Logs in once, to find out whether a connection string works before anything depends on it. */
import { finishesWithin } from '../../shared/finishes-within.ts';
import { type FailureReason, failureReason, UnusableConnectionError } from './connection-failure.ts';
import { endLimitMs } from './driver.ts';
import { Login } from './login.ts';
import { TlsClient } from './tls-client.ts';

/** Longest wait for a server, in milliseconds. */
const waitMs = 5000;

/** Why the server cannot be used; null if it can. */
export async function checkLogin(connectionString: string): Promise<FailureReason | null> {
  try {
    const client = openClient(connectionString);
    // Of a connection that has failed.
    client.on('error', () => {});
    await client.connect();
    void finishesWithin(endLimitMs, client.end());
    return null;
  } catch (problem) {
    return failureReason(problem as Error);
  }
}

function openClient(connectionString: string): TlsClient {
  try {
    return new TlsClient({
      login: new Login(connectionString),
      application_name: 'pgreflect check',
      connectionTimeoutMillis: waitMs,
    });
  } catch (problem) {
    // A file that it names, for example.
    throw new UnusableConnectionError((problem as Error).message);
  }
}
