/**
 * Which tests cover what emails have beyond those of Supabase Auth. docs/coverage.md says what the numbers are.
 */
import type { SectionRow } from './sections.ts';

/** The rows. */
export const emailSections: readonly SectionRow[] = [
  ['8.1', 'Captcha', 'auth/captcha: a person signs up, in and recovers with %s', 'auth/captcha: without a captcha, and with one that is wrong or was used, nothing happens', 'auth/captcha: a service that hangs holds few connections'],
  ['8.2', 'The limit of emails to an address', 'attack/flooded-inbox: all kinds of emails to an address count together', 'attack/flooded-inbox: two processes count together', 'attack/flooded-inbox: the answers do not tell'],
  ['8.3', 'Wrong codes', 'attack/guessed-codes: after ten wrong guesses the code of an email (%s) is dead, and so is its link', 'attack/guessed-codes: of fifty guesses at once ten are checked'],
]; // biome-ignore format: a table of sections
