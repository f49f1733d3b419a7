/**
 * Runs before each test file: what the file starts ends with it.
 */
import { afterAll } from 'vitest';
import { endAll } from './when-over.ts';

afterAll(endAll);
