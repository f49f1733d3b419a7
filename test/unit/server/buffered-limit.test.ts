/**
 * The memory of requests and answers follows the memory there is.
 */
import { expect, test } from 'vitest';
import { defaultConfig } from '../../../src/config/config.ts';
import { bufferedLimit } from '../../../src/server/connection/buffered-limit.ts';

const mebibyte = 1024 * 1024;
const limitOf = (memory: number, given = {}) =>
  bufferedLimit({ ...defaultConfig, ...given }, memory * mebibyte) / mebibyte;

test('the limit is a quarter of the memory, shared by the workers', () => {
  expect(limitOf(512)).toBe(128);
  expect(limitOf(4096)).toBe(1024);
  expect(limitOf(4096, { workers: 4 })).toBe(256);
});

test('the option overrides it, and two answers of the largest size fit in any case', () => {
  expect(limitOf(4096, { maxBufferedBytes: 256 * mebibyte, workers: 2 })).toBe(128);
  expect(limitOf(64)).toBe(32);
  expect(limitOf(64, { limits: { ...defaultConfig.limits, maxResponseBytes: 256 * mebibyte } })).toBe(512);
});

test('without a number, the memory of the container or of the machine counts', () => {
  const bytes = bufferedLimit(defaultConfig);
  expect(Number.isSafeInteger(bytes)).toBe(true);
  expect(bytes).toBeGreaterThanOrEqual(2 * defaultConfig.limits.maxResponseBytes);
});
