/**
 * Which tests cover what emails have beyond those of Supabase Auth. docs/coverage.md says what the numbers are.
 */
import type { SectionRow } from './sections.ts';

/** The rows. */
export const emailSections: readonly SectionRow[] = [
  ['1', 'Links that scanners cannot use up', 'auth/link-page: opening a link shows a page and uses up nothing; its button verifies, once', 'auth/link-page: the page of a link that is used up, expired or made up is that of a good one', 'auth/link-page: of two presses at once, one gets a session and the other otp_expired', 'auth/link-page-browser: after a scanner, %s signs in (%s) by %s', 'management/link-page: a page that would not work is refused: %s'],
  ['2', 'Text parts and headers', 'email/smtp-transport: has its text and its HTML, the sender, one recipient, the date, an id', 'email/smtp-transport: has the text part of its own template as it was rendered', 'email/smtp-transport: is as Supabase Auth sends it', 'unit/email/plain-text: shows %s', 'email/mailer: a message is signed with the key of the moment', 'email/mailer: a message of more than 100 KB is sent, with a warning'],
  ['4', 'Built-in texts and their look', 'email/built-in: all emails read well as text', 'email/built-in-look: every email fits a phone, a tablet and a computer', 'email/built-in-look: a screen reader reads the digits of the code one by one', 'email/built-in-look: the button can be read in the color %s'],
  ['5', 'Layouts and partials', 'email/layouts: goes around the built-in emails, too', 'email/layouts: escapes for its place of use', 'management/layouts: a change that breaks templates is refused, and names them all', 'management/templates-sync: the layout and the partials are files, too'],
  ['6.1', 'Deliveries', 'management/deliveries: an email is listed with its user, its state and the answer of the mail server', 'management/deliveries: neither code nor link nor text of an email is in the rows', 'management/deliveries: pages, filters and their mistakes', 'management/deliveries: the metrics count the emails by kind and state'],
  ['6.2', 'Suppressed addresses', 'management/deliveries: a suppressed address gets no email (%s) until an operator lifts it', 'management/deliveries: only operators read deliveries and lift suppressed addresses'],
  ['6.3', 'Mail services', 'email/mail-services: %s takes a message as it documents them', 'email/mail-services: what %s refuses is told apart', 'email/mail-services: %s that is away, slow, broken or moved is tried again later', 'management/deliveries: emails through the API of a mail service are listed'],
  ['6.4', 'Bounces and complaints', 'management/mail-events: %s tells of a bounce', 'management/mail-events: forged, altered and old events of %s are refused, and a replay has no effect', 'management/mail-events: Amazon SES tells of a bounce through SNS', 'management/mail-events: forged events of SNS are refused, and no other server is asked'],
  ['8.1', 'Captcha', 'auth/captcha: a person signs up, in and recovers with %s', 'auth/captcha: without a captcha, and with one that is wrong or was used, nothing happens', 'auth/captcha: a service that hangs holds few connections'],
  ['8.2', 'The limit of emails to an address', 'attack/flooded-inbox: all kinds of emails to an address count together', 'attack/flooded-inbox: two processes count together', 'attack/flooded-inbox: the answers do not tell'],
  ['8.3', 'Wrong codes', 'attack/guessed-codes: after ten wrong guesses the code of an email (%s) is dead, and so is its link', 'attack/guessed-codes: of fifty guesses at once ten are checked'],
]; // biome-ignore format: a table of sections
