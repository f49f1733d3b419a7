/**
 * A root type that makes its fields on first use: ten thousand tables have twenty thousand of them, each with its own
 * arguments and types, and an operation uses a few.
 */
import { type GraphQLField, type GraphQLFieldConfig, type GraphQLFieldMap, GraphQLObjectType } from 'graphql';
import { lazyRecord } from '../lazy-schema.ts';

/** Makes a root field. */
export type FieldMaker = () => GraphQLFieldConfig<unknown, unknown>;
/** Null takes the name for a field that this schema does not show, as in field-map.ts. */
export type RootEntry = readonly [name: string, make: FieldMaker | null];

type Field = GraphQLField<unknown, unknown>;

/** `Query`, `Mutation` or `Subscription`. */
export class RootType extends GraphQLObjectType<unknown, unknown> {
  readonly #fields: GraphQLFieldMap<unknown, unknown>;
  readonly #describe: (field: Field) => void;
  /** It has any that this schema shows. */
  readonly hasFields: boolean;

  /** @param entries The last one of a name wins. @param words Its description, and the describer of its fields. */
  constructor(
    name: string,
    entries: readonly RootEntry[],
    words: { readonly description: string | null; describe(field: Field): void },
  ) {
    super({ name, description: words.description, fields: {} });
    this.#describe = words.describe;
    // Of several with one name, the last one counts.
    const makers = new Map(entries);
    this.hasFields = makers.values().some((make) => make !== null);
    this.#fields = this.#lazyFields(makers);
  }

  /** The fields by name, ordered by name. */
  override getFields(): GraphQLFieldMap<unknown, unknown> {
    return this.#fields;
  }

  /** The same one by one. */
  *eachField(): Iterable<Field> {
    for (const name of Object.keys(this.#fields)) yield this.#fields[name]!;
  }

  #lazyFields(makers: ReadonlyMap<string, FieldMaker | null>): GraphQLFieldMap<unknown, unknown> {
    let sorted: readonly string[] | null = null;
    const names = () => {
      sorted ??= [...makers].flatMap(([name, make]) => (make === null ? [] : [name])).sort();
      return sorted;
    };
    const made = new Map<string, Field>();
    const find = (name: string): Field | undefined => {
      const config = made.has(name) ? undefined : makers.get(name)?.();
      if (config !== undefined) made.set(name, this.#makeField(name, config));
      return made.get(name);
    };
    return lazyRecord({ names, has: (name) => makers.get(name) != null, find });
  }

  /** graphql-js makes fields only for whole types. */
  #makeField(name: string, config: GraphQLFieldConfig<unknown, unknown>): Field {
    const field = new GraphQLObjectType({ name: this.name, fields: { [name]: config } }).getFields()[name]!;
    field.parentType = this;
    this.#describe(field);
    return field;
  }
}
