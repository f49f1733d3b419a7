/**
 * A soak of a few seconds: everything that is asked and everything that happens, once. Whether memory is flat takes longer: `npm run soak`.
 */
import { expect, onTestFinished, test } from 'vitest';
import { disturbances } from './disturbances.ts';
import { type MemorySample, trendOf } from './memory.ts';
import { runSoak } from './run-soak.ts';

test('whatever changes around them, clients get right answers, and no connection is lost', async () => {
  const options = { minutes: 0.1, load: 80, clients: 8, seed: 1, calibrateMs: 500 };
  const { figures, violations } = await runSoak(options, onTestFinished);
  expect(violations).toEqual([]);
  for (const name of Object.keys(disturbances)) expect(figures.get(`disturbances: ${name}`)).toBeGreaterThan(0);
  expect(figures.get('right: a write')).toBeGreaterThan(0);
  expect(figures.get('looks at the connections')).toBeGreaterThan(0);
});

test('the trend is that of the samples after the warm-up', () => {
  const samples = [5, 10, 20, 30, 40, 50, 60].map((minutes): MemorySample => {
    return { minutes, aliveMb: minutes < 10 ? 10 : 100 + minutes * 0.5, compiledMb: minutes, residentMb: 200 };
  });
  const { minutes, aliveMb, aliveSlope, compiledSlope, residentSlope } = trendOf(samples, 10);
  expect([minutes, aliveMb, residentSlope]).toEqual([50, 130, 0]);
  expect(aliveSlope).toBeCloseTo(30);
  expect(compiledSlope).toBeCloseTo(60);
});
