import { getArgumentValues, getVariableValues, Kind, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import type { ValueType } from '../../../../src/graphql/model/model.ts';
import { scalarNames } from '../../../../src/graphql/model/scalars.ts';
import { buildSchema } from '../../../../src/graphql/schema/build-schema.ts';
import { validateDocument } from '../../../../src/graphql/schema/validate.ts';
import { column, enumType, enumValue, listOf, model, routine, scalar, table } from '../../../support/model-builder.ts';

const options = { strictVariablePositions: false, suggestions: true };

/** A schema with one field per scalar that takes it as argument `x`, and one for lists: `Int(x: Int)`, `Ints(x: [Int])`. */
const names = scalarNames;
const state = enumType('9', 'State', ['open', ['in work', 'WORKING'], ['on hold', null]]);
const schema = buildSchema(
  model({
    enums: [state],
    tables: [table('1', 'Log', [column('id', 'Int'), column('state', enumValue('9'))])],
    routines: names.flatMap((name, i) => [
      taking(`${i + 10}`, name, scalar(name)),
      taking(`${i + 50}`, `${name}s`, listOf(name)),
    ]),
  }),
);

function taking(oid: string, fieldName: string, type: ValueType) {
  return routine(oid, fieldName, {
    arguments: [{ name: 'x', fieldName: 'x', type, isVariadic: false, required: false, displayDefault: null }],
  });
}

/** The value that the planner gets for a literal, or the message. */
function literal(type: string, text: string): unknown {
  const document = parse(`{ ${type}(x: ${text}) }`);
  const [error] = validateDocument(schema, document, options);
  if (error) {
    expect(error.locations).toHaveLength(1);
    return error.message;
  }
  const operation = document.definitions[0];
  const field = operation?.kind === Kind.OPERATION_DEFINITION ? operation.selectionSet.selections[0] : undefined;
  if (field?.kind !== Kind.FIELD) throw new Error('expected a field');
  return getArgumentValues(schema.getQueryType()!.getFields()[type]!, field).x;
}

/** The value that the planner gets for a variable of the type, or the message. */
function variable(type: string, value: unknown): unknown {
  const operation = parse(`query ($x: ${type}) { __typename }`).definitions[0];
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('expected an operation');
  const result = getVariableValues(schema, operation.variableDefinitions ?? [], { x: value });
  return result.errors ? result.errors[0]?.message : result.variableValues.coerced.x;
}

describe('BigInt', () => {
  test('BigInt keeps every digit of a literal, a string and a big integer', () => {
    expect(literal('BigInt', '9007199254740993')).toBe('9007199254740993');
    expect(literal('BigInt', '-9223372036854775808')).toBe('-9223372036854775808');
    expect(literal('BigInt', '"9007199254740993"')).toBe('9007199254740993');
    expect(variable('BigInt', 9007199254740993n)).toBe('9007199254740993');
    expect(variable('BigInt', '9007199254740993')).toBe('9007199254740993');
    expect(variable('BigInt', 42)).toBe('42');
  });

  test('BigInt refuses a number that has lost digits, and says what to do', () => {
    expect(variable('BigInt', 2 ** 53)).toContain('Pass it as a string of digits.');
    expect(variable('BigInt', Number.MAX_SAFE_INTEGER)).toBe('9007199254740991');
  });

  test('BigInt refuses fractions, booleans, lists and objects', () => {
    expect(literal('BigInt', '1.5')).toBe('BigInt accepts an integer or a string of digits, found: 1.5.');
    expect(literal('BigInt', 'true')).toContain('BigInt accepts');
    expect(literal('BigInt', '{a: 1}')).toContain('BigInt accepts');
    expect(variable('BigInt', 1.5)).toContain('BigInt accepts an integer or a string of digits, found: 1.5.');
    expect(variable('BigInt', [1])).toContain('found: a list.');
    expect(variable('BigInt', {})).toContain('found: an object.');
  });

  test('BigInt leaves the syntax of strings to PostgreSQL', () => {
    expect(literal('BigInt', '" 12 "')).toBe(' 12 ');
  });
});

describe('BigFloat', () => {
  test('BigFloat accepts strings only, so that no digit is lost', () => {
    expect(literal('BigFloat', '"12.50"')).toBe('12.50');
    expect(variable('BigFloat', '12.50')).toBe('12.50');
    for (const answer of [literal('BigFloat', '12.5'), literal('BigFloat', '12'), variable('BigFloat', 12)]) {
      expect(answer).toContain('BigFloat accepts a string, found: 12');
    }
    expect(variable('BigFloat', 12n)).toContain('BigFloat accepts a string');
  });
});

describe('texts that PostgreSQL checks', () => {
  test.each(['ID', 'Cursor', 'Date', 'Time', 'Datetime', 'UUID', 'JSON', 'String'])(
    '%s accepts strings only',
    (name) => {
      expect(literal(name, '"today"')).toBe('today');
      expect(variable(name, 'today')).toBe('today');
      expect(literal(name, '1')).toContain(name);
      expect(literal(name, 'token')).toContain(name);
      expect(variable(name, 1)).toContain(name);
      expect(variable(name, { a: 1 })).toContain(name);
    },
  );

  test('JSON given as an object is refused', () => {
    expect(literal('JSON', '{a: 1}')).toBe('JSON accepts a string, found: { a: 1 }.');
    expect(variable('JSON', { a: 1 })).toContain('JSON accepts a string, found: an object.');
  });
});

describe('numbers and booleans', () => {
  test('Int is a 32-bit integer', () => {
    expect(literal('Int', '7')).toBe(7);
    expect(variable('Int', 7)).toBe(7);
    expect(variable('Int', 7n)).toBe(7);
    expect(literal('Int', '2147483648')).toContain('Int cannot represent');
    expect(variable('Int', 2147483648n)).toContain('Int cannot represent');
    expect(literal('Int', '"7"')).toContain('Int cannot represent');
    expect(variable('Int', 7.5)).toContain('Int cannot represent');
  });

  test('Float takes any number in range and rounds like PostgreSQL', () => {
    expect(literal('Float', '7')).toBe(7);
    expect(literal('Float', '1.5e3')).toBe(1500);
    expect(variable('Float', 1.5)).toBe(1.5);
    expect(variable('Float', 9007199254740993n)).toBe(9007199254740992);
    expect(literal('Float', '1e999')).toContain('in the range of a 64-bit float');
    expect(literal('Float', '"1.5"')).toContain('Float accepts');
    expect(variable('Float', '1.5')).toContain('Float accepts');
  });

  test('Boolean takes true and false', () => {
    expect(literal('Boolean', 'true')).toBe(true);
    expect(variable('Boolean', false)).toBe(false);
    expect(literal('Boolean', '1')).toContain('Boolean cannot represent');
    expect(variable('Boolean', 'true')).toContain('Boolean cannot represent');
  });
});

describe('Opaque', () => {
  test('Opaque takes any single value as the text it was written as', () => {
    expect(literal('Opaque', '"::1"')).toBe('::1');
    expect(literal('Opaque', '12345678901234567890')).toBe('12345678901234567890');
    expect(literal('Opaque', '1.50')).toBe('1.50');
    expect(literal('Opaque', 'true')).toBe('true');
    expect(literal('Opaque', 'token')).toBe('token');
    expect(variable('Opaque', 1.5)).toBe('1.5');
    expect(variable('Opaque', false)).toBe('false');
    expect(variable('Opaque', 12345678901234567890n)).toBe('12345678901234567890');
  });

  test('Opaque refuses lists, objects and numbers that have lost digits', () => {
    expect(literal('Opaque', '[1]')).toContain('Opaque accepts');
    expect(literal('Opaque', '{a: 1}')).toContain('Opaque accepts');
    expect(variable('Opaque', [1])).toContain('found: a list.');
    expect(variable('Opaque', { a: 1 })).toContain('found: an object.');
    expect(variable('Opaque', 2 ** 60)).toContain('Pass it as a string of digits.');
  });
});

describe('null', () => {
  test.each(names)('null is accepted by a nullable %s', (name) => {
    expect(literal(name, 'null')).toBeNull();
    expect(variable(name, null)).toBeNull();
  });
});

describe('lists', () => {
  test('a single value becomes a list of one, null elements stay', () => {
    expect(literal('BigInts', '8')).toEqual(['8']);
    expect(literal('BigInts', '[8, null]')).toEqual(['8', null]);
    expect(variable('[BigInt]', 8)).toEqual(['8']);
    expect(variable('[BigInt]', [8, null])).toEqual(['8', null]);
  });

  test('lists are not nested', () => {
    expect(literal('Ints', '[[1]]')).toContain('Int cannot represent');
    expect(variable('[Int]', [[1]])).toContain('Int cannot represent');
  });
});

describe('enums', () => {
  const filterBy = (operator: string) =>
    validateDocument(schema, parse(`{ logCollection(filter: {state: {${operator}}}) { edges { cursor } } }`), options);
  const value = (text: string) => {
    const document = parse(`{ logCollection(filter: {state: {eq: ${text}}}) { edges { cursor } } }`);
    const operation = document.definitions[0];
    const field = operation?.kind === Kind.OPERATION_DEFINITION ? operation.selectionSet.selections[0] : undefined;
    if (field?.kind !== Kind.FIELD) throw new Error('expected a field');
    return getArgumentValues(schema.getQueryType()!.getFields().logCollection!, field).filter;
  };

  test('tokens and strings of the GraphQL name become the SQL label', () => {
    expect(filterBy('eq: WORKING')).toEqual([]);
    expect(filterBy('eq: "WORKING"')).toEqual([]);
    expect(filterBy('in: ["open", WORKING]')).toEqual([]);
    expect(value('WORKING')).toEqual({ state: { eq: 'in work' } });
    expect(value('"WORKING"')).toEqual({ state: { eq: 'in work' } });
    expect(variable('State', 'WORKING')).toBe('in work');
  });

  test('the label of a renamed value is not accepted', () => {
    expect(filterBy('eq: "in work"')[0]?.message).toContain('does not exist in "State" enum.');
    expect(variable('State', 'in work')).toContain('does not exist in "State" enum.');
  });

  test('a label that can be no GraphQL name is accepted as a string', () => {
    expect(filterBy('eq: "on hold"')).toEqual([]);
    expect(value('"on hold"')).toEqual({ state: { eq: 'on hold' } });
    expect(variable('State', 'on hold')).toBe('on hold');
  });

  test('unknown values are refused at their place in the document', () => {
    const [error] = filterBy('eq: "opne"');
    expect(error?.message).toBe('Value "opne" does not exist in "State" enum. Did you mean the enum value "open"?');
    expect(error?.locations).toEqual([{ line: 1, column: 38 }]);
    expect(filterBy('eq: 1')[0]?.message).toContain('Enum "State" cannot represent non-enum value: 1.');
    expect(variable('State', 1)).toContain('cannot represent non-string value');
  });

  test('directions and null tests are accepted as tokens and strings, and keep their names', () => {
    const valid = (text: string) => validateDocument(schema, parse(text), options).map((e) => e.message);
    expect(valid('{ logCollection(orderBy: {id: "DescNullsLast"}) { edges { cursor } } }')).toEqual([]);
    expect(valid('{ logCollection(orderBy: [{id: DescNullsLast}, {id: null}]) { edges { cursor } } }')).toEqual([]);
    expect(valid('{ logCollection(filter: {id: {is: "NOT_NULL"}}) { edges { cursor } } }')).toEqual([]);
    expect(valid('{ logCollection(orderBy: {id: Desc}) { edges { cursor } } }')[0]).toContain('does not exist');
    expect(valid('{ logCollection(orderBy: [null]) { edges { cursor } } }')[0]).toContain('not to be null');
    expect(variable('OrderByDirection', 'AscNullsFirst')).toBe('AscNullsFirst');
    expect(variable('FilterIs', 'NULL')).toBe('NULL');
  });

  test('of two labels with one GraphQL name input means the one that was mapped', () => {
    const twice = enumType('9', 'State', ['open', ['closed', 'open']]);
    const enums = buildSchema(model({ enums: [twice] }));
    const operation = parse('query ($x: State) { __typename }').definitions[0];
    if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('expected an operation');
    const { variableValues } = getVariableValues(enums, operation.variableDefinitions ?? [], { x: 'open' });
    expect(variableValues?.coerced.x).toBe('closed');
  });
});

describe('arguments', () => {
  test('atMost is 1 when absent, and an explicit null is refused', () => {
    const remove = schema.getMutationType()!.getFields().deleteFromLogCollection!;
    const call = (text: string) => {
      const document = parse(`mutation { deleteFromLogCollection${text} { affectedCount } }`);
      const [error] = validateDocument(schema, document, options);
      if (error) return error.message;
      const operation = document.definitions[0];
      const field = operation?.kind === Kind.OPERATION_DEFINITION ? operation.selectionSet.selections[0] : undefined;
      if (field?.kind !== Kind.FIELD) throw new Error('expected a field');
      return getArgumentValues(remove, field);
    };
    expect(call('')).toEqual({ atMost: 1 });
    expect(call('(atMost: 0)')).toEqual({ atMost: 0 });
    expect(call('(atMost: null)')).toContain('not to be null');
  });
});
