/**
 * Translations of emails in the management API.
 */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { addToken, type ManagedGateway, managedGateway } from './management.ts';

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

test('are stored under canonical tags, without texts that are empty, and null ends them', async () => {
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
  expect([status, body.problems.map(({ message }: { message: string }) => message)]).toEqual([
    400,
    [
      expect.stringContaining(`${field}: de, content: line 2: missing value for if`),
      expect.stringContaining(`${field}: fr, content: line 1: the link would be empty: .ConfirmationUrl`),
    ],
  ]);
  const page = await managed.patch({ mailer_templates_link_page_translations: { de: { content: 'x' } } });
  expect(page.body.message).toContain('de, content: it must use {{ .Button }} exactly once');
});
