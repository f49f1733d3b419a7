/**
 * A process's connections to the world, with a hand on them: counts the messages that it sends to PostgreSQL and to a mail
 * server, and holds the answer to a chosen one, so that the process can be killed at exactly that step.
 *
 * A step is one burst of bytes from the process that the server answers. What a killed process leaves behind depends only on
 * which of its messages have arrived, so holding each answer in turn visits every state that a crash can leave.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What the process talks to. */
type Server = 'database' | 'mail server';

/** The steps of one process, over all of its connections. */
export interface Steps {
  /** Counts from now on, and holds the answer to step number `at`; resolves, with its server, when it has come and is held. */
  hold(at: number): Promise<Server>;
  /** Lets everything pass that comes from now on; what is held stays held. */
  pass(): void;
}

/** One more way to the server. */
export interface HoldingProxy {
  readonly port: number;
  stop(): Promise<void>;
}

interface Gate extends Steps {
  /** Counts a message. @returns Whether its answer is to be held. */
  take(): boolean;
  /** The answer has come. */
  reached(server: Server): void;
}

/** The counter that the proxies of one process share. */
export function createSteps(): Steps {
  let [count, holdAt] = [0, Number.POSITIVE_INFINITY];
  let reached: (server: Server) => void = () => {};
  const gate: Gate = {
    hold(at) {
      [count, holdAt] = [0, at];
      return new Promise((resolve) => {
        reached = resolve;
      });
    },
    pass() {
      holdAt = Number.POSITIVE_INFINITY;
    },
    take() {
      count += 1;
      return count === holdAt;
    },
    reached: (server) => reached(server),
  };
  return gate;
}

/** What the proxy has to know of a protocol, seen from one connection. */
interface Protocol {
  readonly server: Server;
  /** Looks at each packet. @returns Whether it counts, where it begins a message of the process; null: cut the connection. */
  see(from: 'process' | 'server', packet: Buffer): boolean | null;
}

/**
 * What counts is what can leave something half-written: every message of a transaction of the auth service or a command, and
 * every write outside of one. Not what a process does for all of its requests together, reading configuration,
 * counting for limits, looking for stored emails.
 */
function postgresProtocol(): Protocol {
  let [isOurs, isInTransaction] = [false, false];
  return {
    server: 'database',
    see(from, packet) {
      if (from === 'server') {
        isInTransaction =
          packet.at(-6) === 0x5a && packet.readUInt32BE(packet.length - 5) === 5 && packet.at(-1) !== 0x49;
        return false;
      }
      const text = packet.toString('latin1');
      if (text.includes('application_name')) {
        // What it does in the background would be taken for a step of whatever request is watched.
        if (text.includes('listener')) return null;
        isOurs = /pgreflect (auth|command)/.test(text);
        return false;
      }
      if (/pgreflect_rate_limits|(update|delete from) pgreflect_queue/.test(text)) return false;
      // That of a request whose email is held for longer than an email may take; another request is watched by then.
      if (text.includes('rollback')) return false;
      return isOurs && (isInTransaction || /\b(begin|insert into|update|delete from)\b/.test(text));
    },
  };
}

/** The message. What comes before it leaves nothing, and comes in one packet where the server takes that. */
const smtpProtocol: Protocol = {
  server: 'mail server',
  see: (from, packet) =>
    from === 'process' && !/^(EHLO|MAIL|RCPT|DATA|RSET|NOOP|QUIT)/i.test(packet.toString('latin1')),
};

/** A way to PostgreSQL. @returns Also the connection string that leads through it. */
export async function startPostgresProxy(
  steps: Steps,
  targetUrl: string,
): Promise<HoldingProxy & { readonly url: string }> {
  const target = new URL(targetUrl);
  const proxy = await startProxy(steps as Gate, { host: target.hostname, port: Number(target.port || 5432) }, () =>
    postgresProtocol(),
  );
  const url = new URL(targetUrl);
  [url.hostname, url.port] = ['127.0.0.1', String(proxy.port)];
  return { ...proxy, url: url.href };
}

/** A way to a mail server on this machine. */
export function startSmtpProxy(steps: Steps, port: number): Promise<HoldingProxy> {
  return startProxy(steps as Gate, { host: '127.0.0.1', port }, () => smtpProtocol);
}

async function startProxy(
  gate: Gate,
  target: { readonly host: string; readonly port: number },
  makeProtocol: () => Protocol,
): Promise<HoldingProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target.port, target.host);
    const protocol = makeProtocol();
    let speaker: 'process' | 'server' = 'server';
    /** `next`: until the answer comes; `held`: nothing passes any more. */
    let state: 'open' | 'next' | 'held' = 'open';
    const close = () => {
      client.destroy();
      upstream.destroy();
    };
    const relay = (from: 'process' | 'server', packet: Buffer) => {
      const counts = protocol.see(from, packet);
      if (counts === null) return close();
      if (from === 'process' && speaker === 'server' && counts && state === 'open' && gate.take()) state = 'next';
      speaker = from;
      if (from === 'server' && state === 'next') {
        state = 'held';
        gate.reached(protocol.server);
      }
      if (state !== 'held') (from === 'process' ? upstream : client).write(packet);
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        close();
      });
    }
    client.on('data', (packet: Buffer) => relay('process', packet));
    upstream.on('data', (packet: Buffer) => relay('server', packet));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
