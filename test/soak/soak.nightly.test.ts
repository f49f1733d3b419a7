/**
 * A soak of a few seconds: everything that is asked and everything that happens, once. Whether memory is flat takes longer: `npm run soak`.
 */
import { describe, expect, onTestFinished, test } from 'vitest';
import { openLedger } from '../storm/ledger.ts';
import type { ReceivedMessage } from '../support/smtp-server.ts';
import { disturbances } from './disturbances.ts';
import { ExpectedEmails } from './expected-emails.ts';
import { type MemorySample, trendOf } from './memory.ts';
import { runSoak } from './run-soak.ts';

test('whatever changes around them, clients get right answers, and no connection or email is lost', async () => {
  const options = { minutes: 0.1, load: 80, clients: 8, seed: 1, calibrateMs: 500 };
  const { figures, violations } = await runSoak(options, onTestFinished);
  expect(violations).toEqual([]);
  for (const name of Object.keys(disturbances)) expect(figures.get(`disturbances: ${name}`)).toBeGreaterThan(0);
  expect(figures.get('right: a write')).toBeGreaterThan(0);
  expect(figures.get('looks at the connections')).toBeGreaterThan(0);
  // Else nothing else was on.
  for (const name of [
    'events',
    'emails: confirmation',
    'calls of the webhook',
    'tokens with the claim of the hook',
    'spans',
  ])
    expect(figures.get(name), name).toBeGreaterThan(0);
}, 400_000);

describe('emails are counted', () => {
  const [kind, address] = ['recovery', 'a@soak.test'];
  const email = (messageId: string, receivedAt: number) => {
    const parsed = { messageId, headers: [{ key: 'x-kind', value: kind }] };
    return { parsed, receivedAt } as unknown as ReceivedMessage;
  };
  const cuts = [{ from: 100_000, to: 101_000 }];

  test.each<[string, Parameters<ExpectedEmails['note']>[2], readonly ReceivedMessage[], readonly string[]]>([
    ['one for an accepted request', 'accepted', [email('1', 0)], []],
    ['none for an accepted request', 'accepted', [], ['recovery to a@soak.test: 0 emails instead of 1 to 1']],
    ['one or none for a lost answer', 'lost', [], []],
    ['one for a refused request', 'refused', [email('1', 0)], ['recovery to a@soak.test: 1 emails instead of 0 to 0']],
    [
      'another one for an accepted request',
      'accepted',
      [email('1', 0), email('2', 0)],
      ['recovery to a@soak.test: 2 emails instead of 1 to 1'],
    ],
    ['the same once more after a cut', 'accepted', [email('1', 99_000), email('1', 160_000)], []],
    [
      'the same once more without a cut',
      'accepted',
      [email('1', 50_000), email('1', 99_000)],
      ['recovery to a@soak.test: arrived once more although nothing was cut'],
    ],
  ])('%s', (_what, end, messages, violations) => {
    const ledger = openLedger();
    const expected = new ExpectedEmails();
    expected.note(kind, address, end);
    const recipients = messages.length === 0 ? [] : [address];
    expected.check({ recipients: () => recipients, emailsTo: () => messages }, cuts, ledger);
    expect(ledger.violations).toEqual(violations);
  });
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
