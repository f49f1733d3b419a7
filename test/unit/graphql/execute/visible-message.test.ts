/**
 * Which messages of PostgreSQL name nothing but what a role sees, in the languages that PostgreSQL speaks.
 */
import { expect, test } from 'vitest';
import { isVisibleMessage } from '../../../../src/graphql/execute/answer/visible-message.ts';
import { DatabaseError, type DatabaseErrorFacts } from '../../../../src/postgres/database-error.ts';
import { column, model, table } from '../../../support/model-builder.ts';

const person = table('1', 'Person', [column('id', 'Int'), column('email', 'String')]);
const seen = model({ tables: [person] });
const about = { schema: person.namespace, table: person.name, constraint: 'person_email' };

const isVisible = (sqlstate: string, primary: string, facts: Partial<DatabaseErrorFacts> = {}) =>
  isVisibleMessage(new DatabaseError({ kind: 'statement', sqlstate, primary, ...facts }), seen);

test.each([
  'duplicate key value violates unique constraint "person_email"',
  'doppelter Schlüsselwert verletzt Unique-Constraint »person_email«',
  "la valeur d'une clé dupliquée rompt la contrainte unique « person_email »",
  'llave duplicada viola restricción de unicidad «person_email»',
  '重复键违反唯一约束"person_email"',
])('a constraint of a visible table: %s', (message) => {
  expect(isVisible('23505', message, about)).toBe(true);
  expect(isVisible('23505', message, { ...about, table: 'vault' })).toBe(false);
  expect(isVisible('23505', message, { ...about, schema: 'vault' })).toBe(false);
  expect(isVisible('23505', message)).toBe(false);
});

test('a constraint of hidden columns', () => {
  const message = 'new row violates check constraint "person_email"';
  for (const [visibleConstraints, visible] of [
    [['person_email'], true],
    [['person_id'], false],
  ] as const) {
    const shown = model({ tables: [{ ...person, visibleConstraints }] });
    const error = new DatabaseError({ kind: 'statement', sqlstate: '23514', primary: message, ...about });
    expect(isVisibleMessage(error, shown)).toBe(visible);
  }
});

test.each([
  `update or delete on table "vault" violates foreign key constraint "person_email" on table "${person.name}"`,
  `Aktualisieren oder Löschen in Tabelle »vault« verletzt Fremdschlüssel-Constraint »person_email« von Tabelle »${person.name}«`,
])('a message that names more than the fields of the error: %s', (message) => {
  expect(isVisible('23503', message, about)).toBe(false);
  expect(isVisible('23503', message.replace('vault', person.name), about)).toBe(true);
});

test.each([
  ['permission denied for table NAME', true],
  ['new row violates row-level security policy for table "NAME"', true],
  ['new row violates row-level security policy "only_vault" for table "NAME"', false],
  ['permission denied for schema NAME', false],
  ['keine Berechtigung für Tabelle NAME', false],
])('a right: %s', (message, visible) => {
  expect(isVisible('42501', message.replace('NAME', person.name))).toBe(visible);
  expect(isVisible('42501', message.replace('NAME', 'vault'))).toBe(false);
});
