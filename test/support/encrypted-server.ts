/**
 * A PostgreSQL server with a certificate, and somebody on the way to it who meddles with the question whether it has TLS.
 */
import { chmodSync, chownSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { findServerUser } from '../../src/postgres/embedded/server-user.ts';
import { startServer } from './own-server.ts';
import { scratch } from './scratch.ts';
import { defaultRoles } from './usual-roles.ts';
import { atEnd } from './when-over.ts';

/** The server, with the usual roles. */
export interface EncryptedServer {
  readonly port: number;
  /** The superuser's connection. */
  readonly owner: pg.Client;
  /** Connection string of the login role. */
  login(parameters: string, host?: string, port?: number): string;
}

/** A file of `test/fixtures/tls`. The certificate of the server is one for `127.0.0.1`, by an authority that only tests trust. */
export const tlsFixture = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url));

/** Starts one; stopped after the test file. */
export async function startEncryptedServer(schema: string): Promise<EncryptedServer> {
  const directory = mkdtempSync(join(scratch, 'pgreflect-encrypted-'));
  chmodSync(directory, 0o755);
  atEnd(() => rmSync(directory, { recursive: true }));
  const certificate = join(directory, 'server.pem');
  const key = join(directory, 'server-key.pem');
  copyFileSync(tlsFixture('server.pem'), certificate);
  copyFileSync(tlsFixture('server-key.pem'), key);
  chmodSync(key, 0o600);
  const user = await findServerUser();
  if (user !== null) chownSync(key, user.uid, user.gid);
  const server = await startServer({
    dataDirectory: join(directory, 'data'),
    persistent: false,
    settings: { fsync: 'off', ssl: 'on', ssl_cert_file: certificate, ssl_key_file: key },
  });
  atEnd(() => server.stop());
  const owner = new pg.Client({ connectionString: server.url });
  await owner.connect();
  atEnd(() => owner.end());
  await owner.query(defaultRoles);
  await owner.query(schema);
  return {
    port: server.port,
    owner,
    login: (parameters, host = '127.0.0.1', port = server.port) =>
      `postgresql://authenticator:test@${host}:${port}/postgres${parameters === '' ? '' : `?${parameters}`}`,
  };
}

/** Somebody on the way. */
export interface Meddler {
  readonly port: number;
  /**
   * What becomes of the next connections that ask for TLS: they pass, are told that the server has none, or have a handshake that
   * is cut off.
   */
  answer: 'pass' | 'none' | 'cut';
}

const sslRequest = '0000000804d2162f';

/** Starts one; stopped after the test file. */
export async function startMeddler(target: number): Promise<Meddler> {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    open.add(client.once('close', () => open.delete(client)).on('error', () => {}));
    client.once('data', (first) => {
      if (meddler.answer !== 'pass' && first.toString('hex') === sslRequest) {
        client.write(meddler.answer === 'none' ? 'N' : 'S');
        client.once('data', () => client.destroy());
        return;
      }
      const upstream = connect(target, '127.0.0.1').on('error', () => client.destroy());
      upstream.write(first);
      client.once('close', () => upstream.destroy());
      client.pipe(upstream).pipe(client);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  const meddler: Meddler = { port: (server.address() as { port: number }).port, answer: 'pass' };
  return meddler;
}
