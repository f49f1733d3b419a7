/**
 * A soak of a few seconds: everything that is asked and everything that happens, once. Whether memory is flat takes longer: `npm run soak`.
 */
import { expect, onTestFinished, test } from 'vitest';
import { disturbances } from './disturbances.ts';
import { type MemorySample, trendOf } from './memory.ts';
import { runSoak } from './run-soak.ts';

test('whatever changes around them, clients get right answers, and no connection is lost', async () => {
  const options = { minutes: 0.05, load: 50, clients: 8, seed: 1, calibrateMs: 500 };
  const { figures, violations } = await runSoak(options, onTestFinished);
  expect(violations).toEqual([]);
  for (const name of Object.keys(disturbances)) expect(figures.get(`disturbances: ${name}`)).toBeGreaterThan(0);
  expect(figures.get('right: a write')).toBeGreaterThan(0);
  expect(figures.get('looks at the connections')).toBeGreaterThan(0);
});

test('a slope is that of what is left when hardly anything is under way', () => {
  const samples = Array.from({ length: 600 }, (_, index): MemorySample => {
    const minutes = index / 10;
    return { minutes, aliveMb: 100 + minutes * 0.5 + (index % 5) * 10, residentMb: 200 };
  });
  const { minutes, aliveSlope, residentSlope } = trendOf(samples, 10);
  expect(minutes).toBe(50);
  expect(aliveSlope).toBeCloseTo(30, 0);
  expect(residentSlope).toBe(0);
});
