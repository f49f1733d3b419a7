/**
 * A root type that makes its fields on first use: ten thousand tables have ninety thousand of them, each with its own
 * arguments and types, and an operation uses a few.
 */
import { type GraphQLField, type GraphQLFieldConfig, type GraphQLFieldMap, GraphQLObjectType } from 'graphql';
import { type Sliced, sliceIsOver, sortInSlices, withoutPauses } from '../../../shared/slices.ts';
import { lazyRecord } from '../lazy-schema.ts';

/** Makes a root field. */
export type FieldMaker = () => GraphQLFieldConfig<unknown, unknown>;
/** Null takes the name for a field that this schema does not show, as in field-map.ts. */
export type RootEntry = readonly [name: string, make: FieldMaker | null];

/** The fields of a root. */
export interface RootSource {
  /** What has the name; null: nothing, or what this schema does not show. */
  find(name: string): FieldMaker | null;
  /** Everything in any order; some names come twice. */
  entries(): Iterable<RootEntry>;
}

type Field = GraphQLField<unknown, unknown>;

/** `Query`, `Mutation` or `Subscription`. */
export class RootType extends GraphQLObjectType<unknown, unknown> {
  readonly #source: RootSource;
  readonly #describe: (field: Field) => void;
  readonly #made = new Map<string, Field>();
  readonly #fields: GraphQLFieldMap<unknown, unknown>;
  #names: readonly string[] | null = null;

  /** @param words Its description, and the describer of its fields. */
  constructor(
    name: string,
    source: RootSource,
    words: { readonly description: string | null; describe(field: Field): void },
  ) {
    super({ name, description: words.description, fields: {} });
    this.#source = source;
    this.#describe = words.describe;
    this.#fields = lazyRecord({
      names: () => withoutPauses(this.sortNames()),
      has: (field) => this.#made.has(field) || source.find(field) !== null,
      find: (field) => this.#find(field),
    });
  }

  /** The fields by name, ordered by name. */
  override getFields(): GraphQLFieldMap<unknown, unknown> {
    return this.#fields;
  }

  /** The same one by one. */
  *eachField(): Iterable<Field> {
    for (const name of withoutPauses(this.sortNames())) yield this.#find(name)!;
  }

  /** Whether this schema shows any. */
  *hasFields(): Sliced<boolean> {
    for (const [name, make] of this.#source.entries()) {
      if (sliceIsOver()) yield;
      if (make !== null && this.#source.find(name) !== null) return true;
    }
    return false;
  }

  /** The names in order, kept for those who ask for all fields. */
  *sortNames(): Sliced<readonly string[]> {
    if (this.#names !== null) return this.#names;
    const shown = new Map<string, boolean>();
    for (const [name, make] of this.#source.entries()) {
      if (sliceIsOver()) yield;
      shown.set(name, shown.has(name) ? this.#source.find(name) !== null : make !== null);
    }
    const names = shown.entries().flatMap(([name, isShown]) => (isShown ? [name] : []));
    this.#names = yield* sortInSlices(names);
    return this.#names;
  }

  #find(name: string): Field | undefined {
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    const make = this.#source.find(name);
    if (make === null) return undefined;
    const field = this.#makeField(name, make());
    this.#made.set(name, field);
    return field;
  }

  /** graphql-js makes fields only for whole types. */
  #makeField(name: string, config: GraphQLFieldConfig<unknown, unknown>): Field {
    const field = new GraphQLObjectType({ name: this.name, fields: { [name]: config } }).getFields()[name]!;
    field.parentType = this;
    this.#describe(field);
    return field;
  }
}
