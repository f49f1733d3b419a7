/**
 * A GraphQL schema over a type registry that makes types, and their fields, on first use.
 *
 * graphql-js's schema visits every field of every type at construction: for a thousand tables of twenty columns, a
 * quarter of a second and sixty megabytes per role. All of graphql-js's uses go through the methods overridden here.
 * The types are valid by construction, so it is not validated again.
 */
import {
  type GraphQLAbstractType,
  GraphQLIncludeDirective,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  GraphQLSchema,
  GraphQLSkipDirective,
  isObjectType,
} from 'graphql';
import { invariant } from '../../shared/invariant.ts';
import type { TypeRegistry } from './schema-context.ts';

/** Number of types after which referenced types are dropped: most refer to types with similar names. */
const typesPerSweep = 1000;

/** A schema with types ordered by name, and only the directives `include` and `skip`. */
export class LazySchema extends GraphQLSchema {
  readonly types: TypeRegistry;
  readonly #typeMap: Record<string, GraphQLNamedType>;
  #implementations: readonly GraphQLObjectType[] | null = null;
  readonly #objectNames: () => readonly string[];

  /** @param objectNames The types that implement `Node`, in any order. */
  constructor(types: TypeRegistry, objectNames: () => readonly string[]) {
    super({ directives: [GraphQLIncludeDirective, GraphQLSkipDirective], assumeValid: true });
    this.types = types;
    this.#typeMap = lazyRecord(types);
    this.#objectNames = objectNames;
  }

  override getQueryType(): GraphQLObjectType {
    const query = this.types.object('Query');
    invariant(query !== null, 'every schema has a query root');
    return query;
  }

  override getMutationType(): GraphQLObjectType | undefined {
    return this.types.object('Mutation') ?? undefined;
  }

  override getSubscriptionType(): GraphQLObjectType | undefined {
    return this.types.object('Subscription') ?? undefined;
  }

  override getType(name: string): GraphQLNamedType | undefined {
    return this.types.find(name);
  }

  /** Validation looks up types by name, and lists all names. */
  override getTypeMap(): Record<string, GraphQLNamedType> {
    return this.#typeMap;
  }

  /**
   * Every type once, by name, for descriptions only. The types belong to the caller and are not cached; the types they
   * refer to are dropped now and then and made again when needed.
   */
  *eachType(): Iterable<GraphQLNamedType> {
    let passed = 0;
    for (const name of this.types.names()) {
      yield this.types.make(name)!;
      passed += 1;
      if (passed % typesPerSweep === 0) this.#forget();
    }
    this.#forget();
  }

  #forget(): void {
    this.types.forget();
    this.#implementations = null;
  }

  /** The implementations of `Node` one by one. */
  *eachImplementation(): Iterable<GraphQLObjectType> {
    for (const name of [...this.#objectNames()].sort()) {
      const object = this.types.find(name);
      invariant(isObjectType(object), `${name} is an object type`);
      yield object;
    }
  }

  override getImplementations(type: GraphQLInterfaceType) {
    if (type.name !== 'Node') return { objects: [], interfaces: [] };
    this.#implementations ??= [...this.eachImplementation()];
    return { objects: this.#implementations, interfaces: [] };
  }

  /** Without a list of all, which fragments on the result of `node` would need. */
  override isSubType(type: GraphQLAbstractType, maybe: GraphQLInterfaceType | GraphQLObjectType): boolean {
    return maybe.getInterfaces().some(({ name }) => name === type.name);
  }
}

interface LazySource<T> {
  names(): readonly string[];
  has(name: string): boolean;
  /** The same value each time; undefined for an unknown name. */
  find(name: string): T | undefined;
}

/** The values of a source in name order, read-only. Listing the names makes no values. */
export function lazyRecord<T>(source: LazySource<T>): Record<string, T> {
  const find = (name: string | symbol): T | undefined => (typeof name === 'string' ? source.find(name) : undefined);
  return new Proxy(Object.create(null) as Record<string, T>, {
    get: (_, name) => find(name),
    has: (_, name) => typeof name === 'string' && source.has(name),
    ownKeys: () => [...source.names()],
    getOwnPropertyDescriptor(_, name) {
      if (typeof name !== 'string' || !source.has(name)) return undefined;
      return { enumerable: true, configurable: true, get: () => find(name) };
    },
  });
}
