/**
 * Translations of emails in the management API.
 */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { addToken, type ManagedGateway, managedGateway, ref, sentences } from './management.ts';

let database: TestDatabase;
let managed: ManagedGateway;
beforeAll(async () => {
  database = await createAuthDatabase();
});
beforeEach(async () => {
  managed = await managedGateway(database, await addToken(database));
});

const field = 'mailer_templates_recovery_translations';
const german = { subject: 'Passwort', content: '<a href="{{ .ConfirmationURL }}">Los</a>', text: '{{ .Token }}' };

test('translations are stored under canonical tags, without texts that are empty, and null ends them', async () => {
  const stored = await managed.patch({
    [field]: { 'de-ch': german, pt_br: { subject: 'Senha', content: '', text: null }, fr: {} },
  });
  expect([stored.status, stored.body[field]]).toEqual([200, { 'de-CH': german, 'pt-BR': { subject: 'Senha' } }]);
  const same = await managed.patch({ [field]: { 'pt-BR': { subject: 'Senha' }, 'de-CH': german } });
  expect(same.headers.get('etag')).toBe(stored.headers.get('etag'));
  expect((await managed.patch({ [field]: null })).body[field]).toBeNull();
});

test.each([
  ['de', 'must be a JSON object'],
  [{ 'not a tag': german }, 'has "not a tag", which is no language tag such as de or pt-BR'],
  [{ 'und-DE': german }, 'has "und-DE", which is no language tag such as de or pt-BR'],
  [{ de: german, DE: german }, 'has de twice'],
  [{ de: 'text' }, 'must have an object with subject, content, text for de'],
  [{ de: { body: 'x' } }, 'has "body" for de; a language has subject, content, text'],
  [{ de: { subject: 7 } }, 'has a subject for de that must be a string'],
  [{ de: { subject: 'a\nb' } }, 'has a subject for de that must not contain a line break'],
  [{ de: { content: 'x'.repeat(1_000_000) } }, 'must have at most 1000000 bytes'],
  [
    Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`de-x-${index}`, {}])),
    'must have at most 100 languages',
  ],
])('the value %j is refused', async (value, why) => {
  const { status, body } = await managed.patch({ [field]: value });
  expect([status, body.message]).toEqual([400, `${field} ${why}`]);
});

test('a template of a language is checked like that of the email, and its place is told', async () => {
  const value = { de: { content: '<p>\n{{ if }}' }, fr: { content: '<a href="{{ .ConfirmationUrl }}">x</a>' } };
  const { status, body } = await managed.patch({ [field]: value });
  expect([status, body.problems]).toEqual([
    400,
    [
      {
        message: `${field}: de, content: line 2, column 7: missing value for if`,
        field,
        language: 'de',
        part: 'content',
        line: 2,
        column: 7,
        reason: 'missing value for if',
        allow_warnings: false,
      },
    ],
  ]);
  expect(await warningsOf({ [field]: { fr: value.fr } })).toContainEqual(
    expect.stringContaining(`${field}: fr, content: line 1, column 13: the link would be empty: .ConfirmationUrl`),
  );
  const page = await managed.patch({ mailer_templates_link_page_translations: { de: { content: 'x' } } });
  expect(page.body.message).toContain('de, content: it must use {{ .Button }} exactly once');
});

/** Stores a change. @returns Its warnings. */
async function warningsOf(change: object): Promise<readonly string[]> {
  const headers = { prefer: 'return=representation; warnings' };
  const { status, body } = await managed.call({ method: 'PATCH', headers, body: JSON.stringify(change) });
  expect([status, body.message]).toEqual([200, undefined]);
  return sentences(body.warnings);
}

const render = (draft: object) =>
  managed.call({ method: 'POST', path: `/v1/projects/${ref}/config/auth/emails/render`, body: JSON.stringify(draft) });

describe('built-in translations', () => {
  const ended = (first: string, languages: string, what: string) =>
    `${first}: readers of ${languages} get it, too: a text of your own ends the built-in translations of the ${what}. To keep them, add them as yours (templates pull --translations writes them as files)`;

  test('built-in translations end with the first text of an email or page of links, and the change that ends them says so once', async () => {
    const subject = 'mailer_subjects_recovery';
    expect(await warningsOf({ [subject]: '' })).toEqual([]);
    expect(await warningsOf({ [subject]: 'New', [field]: { 'de-CH': { subject: 'Neu' } } })).toEqual([
      ended(subject, 'fr, es, it, pt, nl, pl, ja', 'email'),
    ]);
    expect(await warningsOf({ [subject]: 'Newer' })).toEqual([]);
    const page = 'mailer_templates_link_page_content';
    expect(await warningsOf({ [page]: '{{ .Button }}' })).toEqual([
      ended(page, 'de, fr, es, it, pt, nl, pl, ja', 'page'),
    ]);
  });

  /** The languages that readers of an email get. */
  const localesOf = async (name: string): Promise<readonly string[]> => {
    const { body } = await managed.call({ path: `/v1/projects/${ref}/config/auth/emails` });
    return body.find(({ email }: { readonly email: string }) => email === name).locales;
  };

  test('built-in translations stay where a client sends back what it read, which changes nothing', async () => {
    const own = {
      mailer_subjects_invite: 'Come in',
      mailer_partials: { a: 'b' },
      smtp_host: 'mail.test',
      smtp_pass: 'x',
    };
    await managed.patch({
      ...own,
      mailer_subjects_recovery: null,
      mailer_templates_recovery_content: null,
      [field]: null,
    });
    const read = await managed.get();
    const sent = await managed.patch(read.body);
    expect(sent).toMatchObject({ status: 200, body: read.body });
    expect(sent.headers.get('etag')).toBe(read.headers.get('etag'));
    expect(await localesOf('recovery')).toContain('de');
    expect(await localesOf('invite')).toEqual([]);
    const rows = await database.query('select values from auth.pgreflect_config where project_ref = $1', [ref]);
    expect(Object.keys(rows[0]?.values as object)).not.toContain('mailer_templates_recovery_content');
    // A change among what was read is that change alone.
    await managed.patch({ ...read.body, mailer_layout_content: '<p>{{ template "content" . }}</p>' });
    expect(await localesOf('recovery')).toContain('de');
    await managed.patch({ mailer_layout_content: null });
  });

  test('built-in translations come back with the built-in text', async () => {
    const [subject, content] = ['mailer_subjects_recovery', 'mailer_templates_recovery_content'];
    await managed.patch({ [subject]: null, [content]: null, [field]: null });
    const { body } = await managed.get();
    await managed.patch({ [subject]: 'New', [content]: '{{ .Token }}' });
    expect(await localesOf('recovery')).toEqual([]);
    await managed.patch({ [subject]: body[subject], [content]: body[content] });
    expect(await localesOf('recovery')).toContain('de');
    // Over a text of the start, the built-in one is a choice, which is stored.
    managed = await managedGateway(database, await addToken(database), { authValues: { [subject]: 'Start' } });
    const stored = await managed.patch({ [subject]: body[subject] });
    expect(stored.body[subject]).toBe(body[subject]);
    expect(await localesOf('recovery')).toContain('de');
    await managed.patch({ [subject]: null });
  });

  test('that nobody gets do not end: the plain texts of mailer_compatible are English', async () => {
    expect(await warningsOf({ mailer_compatible: true, mailer_subjects_recovery: 'New' })).toEqual([]);
  });
});

test('a translation for a tag that no reader has is warned of, with the tag that was probably meant', async () => {
  const told = (tag: string, advice: string) =>
    `${field}: ${tag}, subject: there is no language "${tag}"${advice} [unknown-language]`;
  const tags = ['french', 'jp', 'xx', 'tlh', 'qaa', 'pt-BR'];
  expect(await warningsOf({ [field]: Object.fromEntries(tags.map((tag) => [tag, { subject: tag }])) })).toEqual([
    told('french', ' (did you mean fr?)'),
    told('jp', ' (did you mean ja?)'),
    told('xx', ''),
  ]);
});

describe('variables that differ from those of the email itself', () => {
  const base = '<p>Hello {{ .Data.name }}</p>\n<a href="{{ .ConfirmationURL }}">Go</a>';
  const [content, subject] = ['mailer_templates_recovery_content', 'mailer_subjects_recovery'];
  const german = '<p>{{ .Data.vorname }}</p>{{ .Locale }}<a href="{{ .ConfirmationURL }}">Los</a>';

  test('variables that differ from those of the email itself are warned of, in the same change and when either side changes later', async () => {
    const lacks = 'this language does not use .Data.name, which the email itself uses in line 1, column 13';
    const adds = 'line 1, column 7: this language uses .Data.vorname, which the email itself does not use';
    const told = [lacks, adds].map((what) => `${field}: de, content: ${what} [language-variables]`);
    await warningsOf({ [content]: '<p>{{ .Token }}</p>' });
    expect(await warningsOf({ [content]: base, [field]: { de: { content: german } } })).toEqual(told);
    expect(await warningsOf({ [field]: { de: { content: german, subject: 'Neu' } } })).toEqual(told);
    // A text without differences ends the warnings, which is the same from both sides.
    expect(await warningsOf({ [content]: base.replace('name', 'vorname') })).toEqual([]);
    expect(await warningsOf({ [content]: base })).toEqual(told);
    expect(await warningsOf({ [subject]: 'New' })).toEqual([]);
  });

  test('variables that differ from those of the email itself are not reported where a comment switches the check off, or the email itself is a built-in one', async () => {
    const ignored = `{{/* check: ignore language-variables */}}${german}`;
    await warningsOf({ [content]: '<p>{{ .Token }}</p>' });
    expect(await warningsOf({ [content]: base, [field]: { de: { content: ignored } } })).toEqual([]);
    expect(await warningsOf({ [content]: null, [field]: { de: { content: german } } })).toEqual([]);
  });

  test('variables that differ from those of the email itself are in the answer to a draft of a language, with their place', async () => {
    await managed.patch({ [content]: base, [field]: null });
    const { body } = await render({ email: 'recovery', locale: 'de', content: german });
    expect(body.content.warnings).toMatchObject([
      { name: 'language-variables', line: null, refused: false },
      { name: 'language-variables', line: 1, column: 7, length: 13 },
    ]);
    const own = await render({ email: 'recovery', content: german });
    expect(own.body.content.warnings).toEqual([]);
  });
});
