/**
 * Which tests cover which section of the behavior. A section without a test, or one that names a test which is gone,
 * fails sections.test.ts.
 */
import { authEdgeCases } from './auth-edge-cases.ts';
import { authSections } from './auth-sections.ts';
import { emailSections } from './email-sections.ts';
import { extensionSections } from './extension-sections.ts';
import { graphqlSections } from './graphql-sections.ts';

/** A section: its number, what it is about, and its tests: `FILE: NAME`, the file below `test/` without `.test.ts`, and a part of the name. */
export type SectionRow = readonly [number: string, title: string, ...tests: string[]];

/** A test, by its file and by a part of its name as `readTestNames` gives it. */
interface SectionTest {
  readonly file: string;
  readonly name: string;
}

/** A section with the tests that cover it. */
interface Section {
  readonly number: string;
  readonly title: string;
  readonly tests: readonly SectionTest[];
}

/** A part of the behavior. */
export interface Chapter {
  readonly title: string;
  /** In order. */
  readonly sections: readonly Section[];
}

/** All parts. */
export const chapters: readonly Chapter[] = [
  chapter('The GraphQL API', graphqlSections),
  chapter('Extensions of the GraphQL API', extensionSections),
  chapter('The auth service and its management API', authSections),
  chapter('Edge cases of the auth service', authEdgeCases),
  chapter('Emails beyond those of Supabase Auth', emailSections),
];

function chapter(title: string, rows: readonly SectionRow[]): Chapter {
  const sections = rows.map(([number, about, ...tests]) => ({ number, title: about, tests: tests.map(readTest) }));
  return { title, sections };
}

function readTest(text: string): SectionTest {
  const [, file = '', name = ''] = /^(\S+): (.+)$/.exec(text) ?? [];
  return { file, name };
}
