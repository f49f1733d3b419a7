import { expect, test } from 'vitest';
import { countReport } from '../support/test-counts.ts';

const report = (...files: { status: string; results: string[] }[]) =>
  JSON.stringify({
    testResults: files.map((file) => ({
      status: file.status,
      assertionResults: file.results.map((status) => ({ status })),
    })),
  });

test('the last line counts passed and failed tests and leaves out skipped ones', () => {
  const text = report(
    { status: 'failed', results: ['passed', 'failed', 'pending'] },
    { status: 'passed', results: ['passed'] },
  );
  expect(countReport(text, 1)).toEqual({ passed: 2, failed: 1 });
});

test('a test file that cannot be loaded counts as one failure', () => {
  expect(countReport(report({ status: 'failed', results: [] }), 1)).toEqual({ passed: 0, failed: 1 });
});

test('a run that fails outside every test is not green', () => {
  expect(countReport(report({ status: 'passed', results: ['passed'] }), 1)).toEqual({ passed: 1, failed: 1 });
  expect(countReport(null, 1)).toEqual({ passed: 0, failed: 1 });
});
