/**
 * The fourteen scalars of every schema, and how their input reaches the planner.
 *
 * Values that PostgreSQL checks are passed as text, so no digit is lost and nothing is validated twice: `BigInt` and
 * `Opaque` turn numbers into text, our others accept only strings. `Int`, `String` and `Boolean` are graphql-js's,
 * because its introspection types use them and a schema has only one type per name.
 */
import {
  type ConstValueNode,
  GraphQLBoolean,
  GraphQLError,
  GraphQLInt,
  GraphQLScalarType,
  GraphQLString,
  Kind,
  print,
} from 'graphql';
import { type ScalarName, scalarNames } from '../../model/scalars.ts';
import { jsonTemplate, jsonValueText, templateText } from './json-text.ts';

/** Converts an accepted literal or variable; undefined means "wrong kind of value". */
interface Acceptance<T> {
  /** The kinds of value, for the message: "an integer or a string". */
  readonly accepts: string;
  literal(node: ConstValueNode): T | undefined;
  value(value: unknown): T | undefined;
}

function inputScalar<T>(name: string, description: string, acceptance: Acceptance<T>): GraphQLScalarType {
  const message = (found: string) => `${name} accepts ${acceptance.accepts}, found: ${found}.`;
  return new GraphQLScalarType({
    name,
    description,
    coerceInputValue(value) {
      const result = acceptance.value(value);
      if (result === undefined) throw new GraphQLError(message(describeValue(value)));
      return result;
    },
    coerceInputLiteral(node) {
      const result = acceptance.literal(node);
      if (result === undefined) throw new GraphQLError(message(shorten(print(node))), { nodes: node });
      return result;
    },
  });
}

const text: Acceptance<string> = {
  accepts: 'a string',
  literal: (node) => (node.kind === Kind.STRING ? node.value : undefined),
  value: (value) => (typeof value === 'string' ? value : undefined),
};

const integerText: Acceptance<string> = {
  accepts: 'an integer or a string of digits',
  literal: (node) => (node.kind === Kind.INT || node.kind === Kind.STRING ? node.value : undefined),
  value(value) {
    if (typeof value === 'string') return value;
    if (typeof value === 'bigint') return String(value);
    return typeof value === 'number' && Number.isInteger(value) ? exactNumberText('BigInt', value) : undefined;
  },
};

const anyText: Acceptance<string> = {
  accepts: 'a string, a number or a boolean',
  literal(node) {
    if (node.kind === Kind.BOOLEAN) return String(node.value);
    const isText =
      node.kind === Kind.STRING || node.kind === Kind.INT || node.kind === Kind.FLOAT || node.kind === Kind.ENUM;
    return isText ? node.value : undefined;
  },
  value(value) {
    if (typeof value === 'string') return value;
    if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
    return typeof value === 'number' ? exactNumberText('Opaque', value) : undefined;
  },
};

const anyJson: Acceptance<string> = {
  accepts: 'JSON, without names in the place of values',
  literal(node) {
    const template = jsonTemplate(node, () => '');
    return template && templateText(template, () => undefined);
  },
  value: jsonValueText,
};

const float: Acceptance<number> = {
  accepts: 'a number in the range of a 64-bit float',
  literal: (node) => (node.kind === Kind.INT || node.kind === Kind.FLOAT ? finite(Number(node.value)) : undefined),
  // graphql-js's float refuses integers that a 64-bit float rounds; PostgreSQL rounds them, and so do we.
  value: (value) => (typeof value === 'number' || typeof value === 'bigint' ? finite(Number(value)) : undefined),
};

function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined;
}

/** An integer beyond 2^53 has already lost digits, so it is refused. */
function exactNumberText(scalar: ScalarName, value: number): string {
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new GraphQLError(
      `${scalar} cannot take the number ${value}: it is too large to be exact. Pass it as a string of digits.`,
    );
  }
  return String(value);
}

function describeValue(value: unknown): string {
  if (typeof value === 'string') return shorten(JSON.stringify(value));
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : String(value);
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/**
 * All scalars by name. Shared by all schemas of the process: they are independent of the database. `JSON` and `JSONValue` have one
 * name: a place takes values as its column or argument does, and variables are coerced for their places.
 */
export const scalarTypes: Readonly<Record<ScalarName, GraphQLScalarType>> = {
  ID: inputScalar('ID', 'Identifies one row of one table. An opaque text.', text),
  Int: GraphQLInt,
  Float: inputScalar('Float', 'A 64-bit floating-point number.', float),
  String: GraphQLString,
  Boolean: GraphQLBoolean,
  Date: inputScalar('Date', 'A calendar date, such as "2024-05-01".', text),
  Time: inputScalar('Time', 'A time of day, such as "07:45:00".', text),
  Datetime: inputScalar('Datetime', 'A date and time, such as "2024-05-01T07:45:00+00:00".', text),
  BigInt: inputScalar('BigInt', 'A 64-bit integer; a string of digits in results.', integerText),
  UUID: inputScalar('UUID', 'A universally unique identifier.', text),
  JSON: inputScalar('JSON', 'A string that holds JSON text.', text),
  JSONValue: inputScalar('JSON', 'Any JSON value.', anyJson),
  Cursor: inputScalar('Cursor', 'The place of a row in an ordered connection. An opaque text.', text),
  BigFloat: inputScalar('BigFloat', 'A number of any precision, as a string.', text),
  Opaque: inputScalar('Opaque', 'Any other type of PostgreSQL, in its text form.', anyText),
};

/** Scalars whose input is a string and nothing else. */
export const textScalars: ReadonlySet<string> = new Set(
  scalarNames.filter((name) => [0, true].every((value) => isRefused(scalarTypes[name], value))),
);

function isRefused(type: GraphQLScalarType, value: unknown): boolean {
  try {
    type.coerceInputValue(value);
    return false;
  } catch {
    return true;
  }
}
