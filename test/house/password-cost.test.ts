/** Only tests may lower the cost of password hashes: nothing in src/ asks for another hasher than the default one. */
import { expect, test } from 'vitest';
import { bcryptCost } from '../../src/auth/secrets/password-hash.ts';
import { readSources } from './source.ts';

test('new hashes take 2^10 rounds', () => {
  expect(bcryptCost).toBe(10);
});

test('nothing in src/ gives the hasher a cost, or the gateway a hasher', () => {
  const uses = readSources().flatMap(({ path, text }) =>
    [...text.matchAll(/.*(?:\bcreatePasswordHasher\(|\bhasher: |\bhasher, ).*/g)].map(
      ([line]) => `${path}: ${line.trim()}`,
    ),
  );
  expect(uses).toMatchInlineSnapshot(`
    [
      "src/auth/accounts/repeated-sign-up.ts: const { hasher, database } = context.services;",
      "src/auth/secrets/passwords.ts: export function createPasswordHasher(",
      "src/auth/start-auth.ts: hasher: setup.hasher ?? createPasswordHasher(),",
      "src/auth/steps/auth-context.ts: readonly hasher: PasswordHasher;",
      "src/gateway.ts: const { hasher, minRefusalMs } = extras;",
      "src/gateway.ts: const given = { hasher, minRefusalMs, database: authPool, configStore: management.store, onLost: graphql.suspect };",
    ]
  `);
});
