/**
 * An enum type that also accepts its values as string literals, as the API always has (graphql.md 4.5).
 *
 * graphql-js asks the type itself both in validation and in coercion, so overriding one method serves both.
 */
import { type ConstValueNode, GraphQLEnumType, type GraphQLEnumTypeConfig, Kind } from 'graphql';

/** An enum whose literals may be tokens or strings, with optional labels that are not GraphQL names. */
export class StringEnumType extends GraphQLEnumType {
  readonly #rawLabels: ReadonlySet<string>;

  /** @param rawLabels Labels that can be no GraphQL name: accepted as strings and coerced to themselves. */
  constructor(config: Readonly<GraphQLEnumTypeConfig>, rawLabels: readonly string[] = []) {
    super(config);
    this.#rawLabels = new Set(rawLabels);
  }

  override coerceInputValue(value: unknown, hideSuggestions?: boolean | null): unknown {
    if (typeof value === 'string' && this.#rawLabels.has(value)) return value;
    return super.coerceInputValue(value, hideSuggestions);
  }

  override coerceInputLiteral(node: ConstValueNode, hideSuggestions?: boolean | null): unknown {
    if (node.kind !== Kind.STRING) return super.coerceInputLiteral(node, hideSuggestions);
    if (this.#rawLabels.has(node.value)) return node.value;
    // Keeps the location, so that the message points at the string.
    const token: ConstValueNode = { kind: Kind.ENUM, value: node.value, ...(node.loc && { loc: node.loc }) };
    return super.coerceInputLiteral(token, hideSuggestions);
  }
}
