/** Why the gateway could not listen, as a problem that names the option. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Problem } from '../../config/config-error.ts';
import { CommandError } from './command.ts';

interface Address {
  readonly host: string;
  readonly port: number;
  readonly metricsPort?: number | null;
}

/** Describes the operating system's refusal of an address; null for other errors. */
function describeListenError(error: unknown, { host, port, metricsPort = null }: Address): Problem | null {
  const { code, port: refused = port } = error as NodeJS.ErrnoException & { readonly port?: number };
  const [flag, usual] = refused === metricsPort ? ['--metrics-port', 9464] : ['--port', 54_321];
  switch (code) {
    case 'EADDRINUSE':
      return {
        problem: `Port ${refused} is in use by another program.`,
        fix: `Choose another port, or let one be chosen that is free: ${ofScript()}${flag} 0`,
      };
    case 'EACCES':
      return {
        problem: `This user is not allowed to listen on port ${refused}.`,
        fix: `Choose a port above 1023: ${flag} ${usual}.`,
      };
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return {
        problem: `"${host}" is not an address of this machine.`,
        fix: 'Choose another address: --host 127.0.0.1, or --host 0.0.0.0 for all.',
      };
    default:
      return null;
  }
}

/** `npm start` takes options for itself. Other scripts of npm, such as `npm run pgreflect --`, were typed with options already. */
function ofScript(): string {
  return process.env.npm_lifecycle_event === 'start' ? 'npm start -- ' : '';
}

/** Rethrows the error of a server that cannot listen, described if the operating system refused the address. */
export function refuseAddress(address: Address): (error: unknown) => never {
  return (error) => {
    const problem = describeListenError(error, address);
    throw problem === null ? error : new CommandError([problem]);
  };
}

/** Fails early if the address is not available, before anything slow starts. @throws CommandError */
export async function assertFree(address: Address): Promise<void> {
  const probe = createServer().listen(address.port, address.host);
  await once(probe, 'listening').catch(refuseAddress(address));
  probe.close();
  await once(probe, 'close');
}
