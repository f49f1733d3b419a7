/**
 * Runs before each test file: what the file starts ends with it, and every statement that it made the product send is looked at.
 */
import { afterAll } from 'vitest';
import { checkSentStatements } from './check-sent-statements.ts';
import { endAll } from './when-over.ts';

afterAll(async () => {
  await endAll();
  checkSentStatements();
});
