import { expect, test } from 'vitest';
import { isSameModel } from '../../src/graphql/model/same-model.ts';
import { withoutPauses } from '../../src/shared/slices.ts';
import { createDatabase, fixture } from '../support/postgres.ts';
import { columnOf, modelReader, relationshipsOf, tableNames, tableOf } from '../support/read-model.ts';

const database = await createDatabase(fixture('lib.sql'));
const reader = modelReader(database);

test('the sample schema gives three tables, an enum, and every field to read and write them', async () => {
  const model = await reader.model(['lib']);
  expect(model.directiveError).toBeNull();
  expect(model.namespaces).toMatchObject([{ name: 'lib', inflectNames: true, introspection: true }]);
  expect(tableNames(model)).toEqual(['Patron', 'Volume', 'Loan']);
  const { insert, update, delete: remove, byPk, rootField, maxRows } = tableOf(model, 'Volume');
  expect({ insert, update, remove, byPk, rootField, maxRows }).toEqual({
    insert: true,
    update: true,
    remove: true,
    byPk: true,
    rootField: true,
    maxRows: 30,
  });
  expect([...model.enums.values()]).toMatchObject([
    { graphqlName: 'LoanState', mapped: false, values: [{ label: 'out' }, { label: 'returned' }, { label: 'lost' }] },
  ]);
});

test('columns know their field names, types, modifiers and defaults', async () => {
  const model = await reader.model(['lib']);
  const volume = tableOf(model, 'Volume');
  expect(columnOf(volume, 'title')).toMatchObject({
    fieldName: 'title',
    notNull: true,
    type: { kind: 'scalar', scalar: 'String', cast: { name: 'varchar', modifier: '40', maxLength: 40 } },
  });
  expect(columnOf(volume, 'tags')).toMatchObject({
    type: { kind: 'list', element: { scalar: 'String', cast: { name: 'text' } }, cast: { name: '_text' } },
    filterable: true,
    orderable: false,
    hasDefault: true,
  });
  const loan = tableOf(model, 'Loan');
  expect(columnOf(loan, 'fee').type).toMatchObject({ scalar: 'BigFloat', cast: { modifier: '8,2' } });
  expect(columnOf(loan, 'state')).toMatchObject({
    type: { kind: 'enum', cast: { namespace: 'lib', name: 'loan_state' } },
    hasDefault: true,
  });
  expect(columnOf(tableOf(model, 'Patron'), 'id')).toMatchObject({
    insertable: false,
    updatable: false,
    readable: true,
  });
});

test('foreign keys give a field on both sides', async () => {
  const model = await reader.model(['lib']);
  expect(relationshipsOf(model, 'Loan')).toEqual(['outbound patron: one Patron!', 'outbound volume: one Volume!']);
  expect(relationshipsOf(model, 'Patron')).toEqual([
    'outbound sponsor: one Patron',
    'inbound patronCollection: many Patron',
    'inbound loanCollection: many Loan',
  ]);
  expect(relationshipsOf(model, 'Volume')).toEqual(['inbound loanCollection: many Loan']);
});

test('roles with the same privileges have equal models, others do not', async () => {
  await database.query('revoke delete on lib.loan from authenticated');
  const [anon, service, authenticated] = await Promise.all(
    ['anon', 'service_role', 'authenticated'].map((role) => reader.model(['lib'], role)),
  );
  expect(withoutPauses(isSameModel(anon!, service!))).toBe(true);
  expect(withoutPauses(isSameModel(anon!, authenticated!))).toBe(false);
});
