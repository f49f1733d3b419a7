import { expect, test } from 'vitest';
import { nearestName } from '../../../src/config/nearest-name.ts';

const known = ['port', 'pool-size', 'database-url', 'jwt-secret'];

test.each([
  ['databse-url', 'database-url'],
  ['jwt-sercet', 'jwt-secret'],
  ['prot', 'port'],
  ['Pool-Size', 'pool-size'],
])('%s was probably meant to be %s', (typed, meant) => {
  expect(nearestName(typed, known)).toBe(meant);
});

test('nothing is suggested for a word that is like none', () => {
  expect(nearestName('verbose', known)).toBeNull();
});
