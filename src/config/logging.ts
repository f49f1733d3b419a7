/** How a process with this configuration logs. */
import { createHmac } from 'node:crypto';
import type { LoggerOptions } from '../shared/logger.ts';
import type { Config } from './config.ts';
import { deriveKey } from './keys.ts';

/** Enough that two clients of a project do not look equal. */
const hashDigits = 16;

/** The options of its logger. */
export function loggingOf(config: Config): LoggerOptions {
  const { logLevel: level, logFormat: format, slowMs, localProject: isLocal, logAddresses } = config;
  const options = { level, format, slowMs, isLocal };
  if (logAddresses === 'full') return options;
  if (logAddresses === 'none') return { ...options, showAddress: () => null };
  // There are so few addresses that a hash without a key would be as good as the address.
  const key = deriveKey(config, 'addresses in the log');
  const showAddress = (address: string) => createHmac('sha256', key).update(address).digest('hex').slice(0, hashDigits);
  return { ...options, showAddress };
}
