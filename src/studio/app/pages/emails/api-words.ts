/** What the management API says of a change, in the words of the page. */
import type { ChangeNote } from '../../../../management/change-note.ts';
import type { DescribedEmail } from './described.ts';
import { languageName, titleOf } from './email-names.ts';

const titles = { subject: 'Subject', content: 'Body', text: 'Text part' } as const;

/**
 * `Subject, line 1, column 3: .Foo is ….`, of a translation `de: Subject, line 1, …`, and of another email
 * `Reset password: Body, line 1, …`.
 *
 * @param all Every email and shared template.
 */
export function inWordsOfPage(all: readonly DescribedEmail[], email: DescribedEmail, note: ChangeNote): string {
  const owner = [email, ...all].find((one) => holds(one, note));
  if (owner === undefined) return `${note.message}.`;
  const { language, line, column, ended } = note;
  const of = owner.email === email.email ? '' : `${titleOf(owner.email).title}: `;
  const place = line === undefined ? '' : `, line ${line}, column ${column}`;
  const reason =
    ended === undefined
      ? note.reason
      : `readers of ${ended.map(languageName).join(', ')} get it, too: it ends the built-in translations`;
  return `${of}${language === undefined ? '' : `${language}: `}${textOf(owner, note)}${place}: ${reason}.`;
}

function holds(email: DescribedEmail, { field, partial }: ChangeNote): boolean {
  const { subjectField, contentField, textField, translationsField } = email;
  const isHere = field !== null && [subjectField, contentField, textField, translationsField].includes(field);
  return isHere && email.partial === partial;
}

/** The title of the text. */
function textOf({ parts, subjectField, textField, translationsField }: DescribedEmail, note: ChangeNote): string {
  if (note.field === translationsField && note.part === undefined) return 'Translations';
  if (parts.length === 1) return 'Text';
  const own = { [subjectField]: titles.subject, [textField]: titles.text };
  return note.part === undefined ? (own[note.field ?? ''] ?? titles.content) : titles[note.part];
}
