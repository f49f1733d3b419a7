/** Sentences of the management API in the words of the page. */
import type { DescribedEmail } from './described.ts';
import { languageName, titleOf } from './email-names.ts';

/** What the API says of built-in translations that a text ends, up to its advice for the command line. */
const ended = /readers of ([\w, -]+) get it, too: .*/s;

const titles = { subject: 'Subject', content: 'Body', text: 'Text part' } as const;

/**
 * `mailer_subjects_invite: line 1: .Foo is …` as `Subject, line 1: .Foo is ….`, and of a translation
 * `mailer_templates_invite_translations: de, subject: line 1: …` as `de: Subject, line 1: ….`
 *
 * A sentence about another email begins with the title of that email: `Reset password: Body would fail: …`.
 */
export function inWordsOfPage(email: DescribedEmail, sentence: string): string {
  const pattern =
    /^(\w+)(, which is in force, would fail)?: (?:([\w-]+), (subject|content|text): |("[\w-]+"), )?(line \d+)?(.*)$/s;
  const told = sentence.replace(ended, (_text, tags: string) => {
    const names = tags.split(', ').map(languageName).join(', ');
    return `readers of ${names} get it, too: it ends the built-in translations`;
  });
  const [, field = '', fails, locale, named, partial, place, rest] = pattern.exec(told) ?? [];
  if (rest === undefined) return told;
  const part = partOf(email, field, named, partial);
  if (part === null) return `${told.replace(field, elsewhere(field))}.`;
  const start = `${locale === undefined ? '' : `${locale}: `}${part}${fails === undefined ? '' : ' would fail'}`;
  return place === undefined ? `${start}: ${rest}.` : `${start}, ${place}${rest}.`;
}

/** The title of a text of this template; null: the field is another's. */
function partOf(
  { group, parts, subjectField, contentField, textField, translationsField }: DescribedEmail,
  field: string,
  named: string | undefined,
  partial: string | undefined,
): string | null {
  if (field === '') return null;
  if (field === contentField && group === 'shared') return partial === undefined ? 'Text' : `Partial ${partial}`;
  if (field === translationsField) return parts.length === 1 ? 'Text' : titles[named as keyof typeof titles];
  const own = { [subjectField]: titles.subject, [contentField]: titles.content, [textField]: titles.text };
  return own[field] ?? null;
}

/** `mailer_templates_recovery_content` as `Reset password: Body`; other fields keep their names. */
function elsewhere(field: string): string {
  if (field === 'mailer_partials') return 'Partials';
  if (field === 'mailer_layout_content') return titleOf('layout').title;
  const [, prefix, name = '', part] =
    /^mailer_(subjects|templates)_(\w+?)(?:_(content|text|translations))?$/.exec(field) ?? [];
  const { title } = titleOf(name);
  if (title === name) return field;
  if (part === 'translations') return `${title}: Translation`;
  return name === 'link_page'
    ? title
    : `${title}: ${prefix === 'subjects' ? titles.subject : titles[part === 'text' ? 'text' : 'content']}`;
}
