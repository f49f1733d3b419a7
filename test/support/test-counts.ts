/**
 * Counts passed and failed tests from vitest's JSON report. A file that could not be loaded, an error outside a test and
 * a missing report are failures too: nothing that went wrong may leave the count at zero.
 */

/** How many tests passed and failed; skipped ones are in neither. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

interface Report {
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

/**
 * @param report Text of the JSON report, null where none was written.
 * @param exitCode Exit code of the run.
 */
export function countReport(report: string | null, exitCode: number): Counts {
  if (report === null) return { passed: 0, failed: 1 };
  const files = (JSON.parse(report) as Report).testResults;
  const count = (status: string) =>
    files.flatMap((file) => file.assertionResults).filter((result) => result.status === status).length;
  const brokenFiles = files.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((result) => result.status === 'failed'),
  ).length;
  const failed = count('failed') + brokenFiles;
  return { passed: count('passed'), failed: failed === 0 && exitCode !== 0 ? 1 : failed };
}
