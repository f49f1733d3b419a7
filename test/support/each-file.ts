/**
 * Runs before each test file: what the file starts ends with it, and every statement that it made the product send is looked at.
 */
import { afterAll, vi } from 'vitest';
import { checkSentStatements } from './check-sent-statements.ts';
import { endAll } from './when-over.ts';

/** How long something takes is the machine's business: a test waits for it for a minute, whatever else it says. */
const patienceMs = 60_000;

const { waitFor } = vi;
vi.waitFor = (check, options = {}) => {
  const given = typeof options === 'number' ? { timeout: options } : options;
  return waitFor(check, { ...given, timeout: Math.max(patienceMs, given.timeout ?? 0) });
};

/** Twenty thousand random operations send as many statements, and each is parsed. */
const maxMs = 1_800_000;

afterAll(async () => {
  vi.waitFor = waitFor;
  await endAll();
  checkSentStatements();
}, maxMs);
