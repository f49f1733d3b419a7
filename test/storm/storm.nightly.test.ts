/**
 * A short storm: enough for every flow and every disturbance to meet some of the others. A long one is `npm run storm`.
 */
import { expect, onTestFinished, test } from 'vitest';
import { runStorm } from './run-storm.ts';
import { disturbances } from './weather.ts';
import { startWorld } from './world.ts';

test('whatever happens to the servers, no change is lost, half-done, done twice or kept from its owner', async () => {
  const options = { clients: 6, seed: 1, duration: { rounds: 1 } };
  const { figures, violations } = await runStorm(options, () => startWorld('direct', onTestFinished));
  expect(violations).toEqual([]);
  for (const name of Object.keys(disturbances)) expect(figures.get(`disturbances: ${name}`)).toBe(1);
  // Else it was no storm.
  expect(figures.get('answers lost')).toBeGreaterThan(0);
  expect(figures.get('notified changes: password_changed_notification')).toBeGreaterThan(0);
  expect(figures.get('accounts that are as their owners know them')).toBeGreaterThan(0);
}, 240_000);
