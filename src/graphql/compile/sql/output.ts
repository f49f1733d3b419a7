/** Prints a value as the answer shows it: big numbers as strings, JSON as text, enums under GraphQL names. */
import { invariant, unreachable } from '../../../shared/invariant.ts';
import type { EnumType, Oid, ValueType } from '../../model/model.ts';
import { type ScalarName, scalarRow } from '../../model/scalars.ts';
import { join, literal, type Sql, sql } from './sql.ts';

/** An expression whose JSON conversion is the value's result. */
export function printOutput(value: Sql, type: ValueType, enums: ReadonlyMap<Oid, EnumType>): Sql {
  switch (type.kind) {
    case 'scalar':
      return printScalar(value, type.scalar);
    case 'enum':
      return printEnum(value, enumOf(enums, type.enum));
    case 'list':
      return printList(value, type, enums);
    default:
      return unreachable(type);
  }
}

/** Whether the printed expression uses the value more than once, so a call must not be its text. */
export function isReadTwice(type: ValueType, enums: ReadonlyMap<Oid, EnumType>): boolean {
  return type.kind === 'enum' && enumOf(enums, type.enum).mapped;
}

function printScalar(value: Sql, scalar: ScalarName): Sql {
  switch (scalarRow(scalar).output) {
    case 'itself':
      return value;
    case 'text':
      return sql`${value}::pg_catalog.text`;
    case 'json_text':
      return printJsonText(value, sql`'{}'`);
    case 'jsonb':
      return sql`pg_catalog.to_jsonb(${value})`;
  }
}

/** The text of a JSON value at a path: a JSON string without quotes, SQL null for JSON null. */
export function printJsonText(value: Sql, path: Sql): Sql {
  return sql`(${value} operator(pg_catalog.#>>) ${path})`;
}

function printEnum(value: Sql, type: EnumType): Sql {
  return type.mapped ? printMapping(value, type) : value;
}

// Compares labels as text: a label added after the model was read keeps its raw name. The array finds text equality by
// type; `case` would look up an operator by name.
function printMapping(value: Sql, type: EnumType): Sql {
  const renamed = renamedLabels(type);
  if (renamed.length === 0) return value;
  const label = sql`${value}::pg_catalog.text`;
  const [labels, names] = [textArray(renamed.map(({ label }) => label)), textArray(renamed.map(({ name }) => name))];
  return sql`coalesce((${names})[pg_catalog.array_position(${labels}, ${label})], ${label})`;
}

function textArray(texts: readonly string[]): Sql {
  const elements = join(texts.map(literal), sql`, `);
  return sql`array[${elements}]::pg_catalog.text[]`;
}

// Replaces the labels one by one, which keeps the array's dimensions. A name that equals another label is first
// replaced by a text longer than any label.
function printListMapping(value: Sql, type: EnumType): Sql {
  const renamed = renamedLabels(type);
  if (renamed.length === 0) return value;
  const labels = new Set(renamed.map(({ label }) => label));
  const waiting: { readonly from: string; readonly to: string }[] = [];
  let replaced = sql`${value}::pg_catalog.text[]`;
  const replace = (from: string, to: string): void => {
    replaced = sql`pg_catalog.array_replace(${replaced}, ${literal(from)}::pg_catalog.text, ${literal(to)}::pg_catalog.text)`;
  };
  for (const [index, { label, name }] of renamed.entries()) {
    const stand = labels.has(name) ? String(index).padStart(maxLabelBytes + 1, '0') : name;
    replace(label, stand);
    if (stand !== name) waiting.push({ from: stand, to: name });
  }
  for (const { from, to } of waiting) replace(from, to);
  return replaced;
}

const maxLabelBytes = 63;

function renamedLabels(type: EnumType): readonly { readonly label: string; readonly name: string }[] {
  return type.values.flatMap(({ label, graphqlName }) =>
    graphqlName === null || graphqlName === label ? [] : [{ label, name: graphqlName }],
  );
}

function printList(value: Sql, type: Extract<ValueType, { kind: 'list' }>, enums: ReadonlyMap<Oid, EnumType>): Sql {
  const { element } = type;
  if (element.kind === 'enum') {
    const enumType = enumOf(enums, element.enum);
    return enumType.mapped ? printListMapping(value, enumType) : value;
  }
  switch (scalarRow(element.scalar).output) {
    case 'itself':
      return value;
    case 'text':
    case 'json_text':
      return sql`${value}::pg_catalog.text[]`;
    case 'jsonb':
      return sql`pg_catalog.to_jsonb(${value})`;
  }
}

function enumOf(enums: ReadonlyMap<Oid, EnumType>, oid: Oid): EnumType {
  const type = enums.get(oid);
  invariant(type, `the model has no enum ${oid}`);
  return type;
}
