/**
 * The GraphQL enum of a PostgreSQL enum type. Input is coerced to the SQL label (graphql.md 4.5).
 */
import type { EnumType } from '../../model/model.ts';
import { withOrigin } from '../origin.ts';
import { StringEnumType } from './string-enum-type.ts';

/** The GraphQL enum: its names in PostgreSQL's order, each standing for the SQL label. */
export function buildEnumType(enumType: EnumType): StringEnumType {
  const labels = new Map<string, string>();
  const rawLabels: string[] = [];
  for (const { label, graphqlName } of enumType.values) {
    if (graphqlName === null || reservedNames.has(graphqlName)) rawLabels.push(label);
    // A label mapped onto the name of an unmapped one takes that name for input.
    else if (!labels.has(graphqlName) || label !== graphqlName) labels.set(graphqlName, label);
  }
  return new StringEnumType(
    {
      name: enumType.graphqlName,
      values: Object.fromEntries([...labels].map(([name, label]) => [name, { value: label }])),
      extensions: withOrigin({ kind: 'enum', enum: enumType, namespace: enumType.namespace }),
    },
    rawLabels,
  );
}

/** Whether any value of the enum can be written in GraphQL; an enum type without values is not a valid type. */
export function hasNamedValues(enumType: EnumType): boolean {
  return enumType.values.some(({ graphqlName }) => graphqlName !== null && !reservedNames.has(graphqlName));
}

/** Literals of their own in GraphQL, so they cannot name an enum value. */
const reservedNames: ReadonlySet<string> = new Set(['true', 'false', 'null']);
