/**
 * Enums whose values may also be written as strings, as in pg_graphql.
 *
 * graphql-js calls the type itself in both validation and coercion, so overriding one method suffices.
 */
import { type ConstValueNode, GraphQLEnumType, type GraphQLEnumTypeConfig, Kind } from 'graphql';
import type { EnumType } from '../../model/model.ts';

/** An enum whose literals may be tokens or strings, with optional labels that are not GraphQL names. */
export class StringEnumType extends GraphQLEnumType {
  /** Labels that are not GraphQL names. */
  readonly rawLabels: ReadonlySet<string>;

  /** @param rawLabels Labels that cannot be GraphQL names: accepted as strings and returned unchanged. */
  constructor(config: Readonly<GraphQLEnumTypeConfig>, rawLabels: readonly string[] = []) {
    super(config);
    this.rawLabels = new Set(rawLabels);
  }

  override coerceInputValue(value: unknown, hideSuggestions?: boolean | null): unknown {
    if (typeof value === 'string' && this.rawLabels.has(value)) return value;
    return super.coerceInputValue(value, hideSuggestions);
  }

  override coerceInputLiteral(node: ConstValueNode, hideSuggestions?: boolean | null): unknown {
    if (node.kind !== Kind.STRING) return super.coerceInputLiteral(node, hideSuggestions);
    if (this.rawLabels.has(node.value)) return node.value;
    // Keeps the location, so that the message points at the string.
    const token: ConstValueNode = { kind: Kind.ENUM, value: node.value, ...(node.loc && { loc: node.loc }) };
    return super.coerceInputLiteral(token, hideSuggestions);
  }
}

/** The GraphQL enum of a PostgreSQL enum type: its names in PostgreSQL's order, each coerced to the SQL label. */
export function buildEnumType(enumType: EnumType): StringEnumType {
  const labels = new Map<string, string>();
  const rawLabels: string[] = [];
  for (const { label, graphqlName } of enumType.values) {
    if (graphqlName === null) rawLabels.push(label);
    // A label mapped to the name of an unmapped one takes that name for input.
    else if (!labels.has(graphqlName) || label !== graphqlName) labels.set(graphqlName, label);
  }
  const values = Object.fromEntries([...labels].map(([name, label]) => [name, { value: label }]));
  return new StringEnumType({ name: enumType.graphqlName, values }, rawLabels);
}

/** Whether GraphQL can spell any value of the enum; an enum type without values is invalid. */
export function hasNamedValues(enumType: EnumType): boolean {
  return enumType.values.some(({ graphqlName }) => graphqlName !== null);
}
