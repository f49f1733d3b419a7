/**
 * Prints a value the way it goes into the answer (graphql.md 4.2, 4.3, 4.5): big numbers as strings, JSON as text, enums
 * under their GraphQL names.
 */
import type { EnumType, Oid, ScalarName, ValueType } from '../model/model.ts';
import { invariant, unreachable } from '../shared/invariant.ts';
import { join, literal, type Sql, sql } from './sql.ts';

/** An expression whose conversion to JSON is the value's JSON result. */
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

/** Whether the printed expression names the value more than once, so that a call must not stand for it. */
export function isReadTwice(type: ValueType, enums: ReadonlyMap<Oid, EnumType>): boolean {
  const single = type.kind === 'list' ? type.element : type;
  return single.kind === 'enum' && enumOf(enums, single.enum).mapped;
}

function printScalar(value: Sql, scalar: ScalarName): Sql {
  switch (scalar) {
    case 'BigInt':
    case 'BigFloat':
      return sql`${value}::pg_catalog.text`;
    case 'JSON':
      // The text at the root path: a JSON string loses its quotes, JSON null is SQL null.
      return sql`(${value} operator(pg_catalog.#>>) '{}')`;
    case 'Opaque':
      return sql`pg_catalog.to_jsonb(${value})`;
    default:
      return value;
  }
}

function printEnum(value: Sql, type: EnumType): Sql {
  return type.mapped ? printMapping(value, type) : value;
}

// Labels are compared as text: a label that was added after the model was read still has its raw name.
function printMapping(value: Sql, type: EnumType): Sql {
  const cases = type.values.flatMap(({ label, graphqlName }) =>
    graphqlName === null || graphqlName === label ? [] : [sql` when ${literal(label)} then ${literal(graphqlName)}`],
  );
  if (cases.length === 0) return value;
  return sql`case ${value}::pg_catalog.text${join(cases, sql``)} else ${value}::pg_catalog.text end`;
}

function printList(value: Sql, type: Extract<ValueType, { kind: 'list' }>, enums: ReadonlyMap<Oid, EnumType>): Sql {
  const { element } = type;
  if (element.kind === 'enum') {
    const enumType = enumOf(enums, element.enum);
    if (!enumType.mapped) return value;
    const mapped = printMapping(sql`u.e`, enumType);
    return sql`case when ${value} is not null then array(select ${mapped} from pg_catalog.unnest(${value}) with ordinality as u(e, n) order by u.n) end`;
  }
  switch (element.scalar) {
    case 'BigInt':
    case 'BigFloat':
    case 'JSON':
      return sql`${value}::pg_catalog.text[]`;
    case 'Opaque':
      return sql`pg_catalog.to_jsonb(${value})`;
    default:
      return value;
  }
}

/** An enum of the model. */
export function enumOf(enums: ReadonlyMap<Oid, EnumType>, oid: Oid): EnumType {
  const type = enums.get(oid);
  invariant(type, `the model has no enum ${oid}`);
  return type;
}
