/** How a process with this configuration logs. */
import { createHmac } from 'node:crypto';
import type { LoggerOptions } from '../shared/logger.ts';
import type { Config } from './config.ts';
import { deriveKey } from './keys.ts';

/** Enough that two clients of a project do not look equal. */
const hashDigits = 16;

/** The options of its logger. They follow the present ones. @param worker Number of this process, if it is a worker. */
export function loggingOf(config: Config, worker?: number): LoggerOptions {
  const { logFormat: format, localProject: isLocal } = config;
  return {
    format,
    isLocal,
    worker,
    get level() {
      return config.logLevel;
    },
    get slowMs() {
      return config.slowMs;
    },
    ...addressesOf(config),
  };
}

function addressesOf(config: Config): Pick<LoggerOptions, 'showAddress'> {
  if (config.logAddresses === 'full') return {};
  if (config.logAddresses === 'none') return { showAddress: () => null };
  // There are so few addresses that a hash without a key would be as good as the address.
  const key = deriveKey(config, 'addresses in the log');
  const showAddress = (address: string) => createHmac('sha256', key).update(address).digest('hex').slice(0, hashDigits);
  return { showAddress };
}
