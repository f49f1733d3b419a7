import { expect, test } from 'vitest';
import {
  argumentForm,
  baseForm,
  fieldForm,
  isValidName,
  lowerFirst,
  routineForm,
  tableRootFields,
  toOneField,
} from '../../../../src/graphql/model/inflect.ts';

test('inflection starts words after anything that is no letter or digit, and drops underscores only', () => {
  const table: [string, string, string][] = [
    ['loan_state', 'LoanState', 'loanState'],
    ['loanState', 'LoanState', 'loanState'],
    ['LOAN_STATE', 'LOANSTATE', 'lOANSTATE'],
    ['_draft', 'Draft', 'draft'],
    ['vat__rate', 'VatRate', 'vatRate'],
    ['line_2nd', 'Line2nd', 'line2nd'],
    ['q4_total', 'Q4Total', 'q4Total'],
    ['2fa', '2fa', '2fa'],
    ['loan items', 'Loan Items', 'loan Items'],
    ['écluse_ß', 'ÉcluseSS', 'écluseSS'],
  ];
  for (const [name, base, field] of table) {
    expect(baseForm(name, true)).toBe(base);
    expect(fieldForm(name, true)).toBe(field);
    expect(baseForm(name, false)).toBe(name);
    expect(fieldForm(name, false)).toBe(name);
  }
});

test('routines lose one leading underscore, and start small with inflection off too', () => {
  expect(routineForm('_shelf_label', false)).toBe('shelf_label');
  expect(routineForm('_shelf_label', true)).toBe('shelfLabel');
  expect(routineForm('__twice', false)).toBe('_twice');
  expect(routineForm('RenewLoan', false)).toBe('renewLoan');
  expect(argumentForm('Days_Left', false)).toBe('days_Left');
  expect(argumentForm('days_left', true)).toBe('daysLeft');
});

test('names derived from a base name start small only where they are fields of Query', () => {
  expect([tableRootFields('Tome').collection, tableRootFields('Tome').byPk]).toEqual(['tomeCollection', 'tomeByPk']);
  expect([
    tableRootFields('loan_item').insert,
    tableRootFields('loan_item').update,
    tableRootFields('loan_item').delete,
  ]).toEqual(['insertIntoloan_itemCollection', 'updateloan_itemCollection', 'deleteFromloan_itemCollection']);
});

test('a to-one field is its only key column without the id suffix, else the table it leads to', () => {
  expect(toOneField(['patron_id'], 'Patron', true)).toBe('patron');
  expect(toOneField(['shelf_mark'], 'Volume', true)).toBe('volume');
  expect(toOneField(['billTo'], 'Customer', true)).toBe('customer');
  expect(toOneField(['a_id', 'b_id'], 'Loan', true)).toBe('loan');
  expect(toOneField(['clerkId'], 'Staff', false)).toBe('clerk');
  expect(toOneField(['clerkId'], 'Staff', true)).toBe('staff');
  expect(toOneField(['customer_id'], 'Customer', false)).toBe('customer');
  expect(toOneField(['_id'], 'Patron', true)).toBe('');
});

test('valid names are ASCII, do not start with a digit, and leave two underscores to GraphQL', () => {
  for (const name of ['a', '_', '_a1', 'A_b']) expect(isValidName(name)).toBe(true);
  for (const name of ['', '1a', 'a-b', 'a b', 'é', '__a', '__', 'a$', 'a\n']) expect(isValidName(name)).toBe(false);
});

test('only the first character becomes small, be it outside the basic plane', () => {
  expect(lowerFirst('𐐀B')).toBe('𐐨B');
  expect(lowerFirst('')).toBe('');
});
