/**
 * Which test files cover which section of the behaviour. The tables in docs/coverage.md are made from it; a section without
 * a test, or a test file that is gone, fails sections.test.ts.
 */
import { authEdgeCases, authSections } from './auth-sections.ts';
import { graphqlSections } from './graphql-sections.ts';

/** A section: its number, what it is about, and its test files below `test/`, without `.test.ts`, separated by blanks. */
export type SectionRow = readonly [number: string, title: string, tests: string];

/** A section with the test files that cover it. */
export interface Section {
  readonly number: string;
  readonly title: string;
  readonly tests: readonly string[];
}

/** A part of the behaviour. */
export interface Chapter {
  readonly title: string;
  /** In order. */
  readonly sections: readonly Section[];
}

/** All parts. */
export const chapters: readonly Chapter[] = [
  chapter('The GraphQL API', graphqlSections),
  chapter('The auth service and its management API', authSections),
  chapter('Edge cases of the auth service', authEdgeCases),
];

function chapter(title: string, rows: readonly SectionRow[]): Chapter {
  const sections = rows.map(([number, about, tests]) => ({ number, title: about, tests: tests.split(' ') }));
  return { title, sections };
}
