/**
 * A GraphQL schema over a type registry that makes types, and their fields, when they are first needed.
 *
 * The schema of graphql-js visits every field of every type when it is constructed; for a thousand tables of twenty
 * columns that takes a quarter of a second and sixty megabytes for each role. Everything in graphql-js that uses a schema
 * goes through the methods overridden here. The types are valid by construction, so it is not validated again.
 */
import {
  GraphQLIncludeDirective,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  GraphQLSchema,
  GraphQLSkipDirective,
  isObjectType,
} from 'graphql';
import { invariant } from '../shared/invariant.ts';
import type { TypeRegistry } from './schema-context.ts';

/** For so many types, those that they refer to are kept: most refer to types whose names begin as theirs do. */
const keptWhilePassing = 1000;

/** A schema whose types are ordered by name and whose only directives are `include` and `skip`. */
export class LazySchema extends GraphQLSchema {
  readonly #types: TypeRegistry;
  readonly #typeMap: Record<string, GraphQLNamedType>;
  #implementations: readonly GraphQLObjectType[] | null = null;
  readonly #objectNames: () => readonly string[];

  /** @param objectNames The types that implement `Node`, in any order. */
  constructor(types: TypeRegistry, objectNames: () => readonly string[]) {
    super({ directives: [GraphQLIncludeDirective, GraphQLSkipDirective], assumeValid: true });
    this.#types = types;
    this.#typeMap = lazyRecord(types);
    this.#objectNames = objectNames;
  }

  override getQueryType(): GraphQLObjectType {
    const query = this.#types.object('Query');
    invariant(query !== null, 'every schema has a query root');
    return query;
  }

  override getMutationType(): GraphQLObjectType | undefined {
    return this.#types.object('Mutation') ?? undefined;
  }

  override getType(name: string): GraphQLNamedType | undefined {
    return this.#types.find(name);
  }

  /** Validation looks up the types that a document names, and prints the names of all. */
  override getTypeMap(): Record<string, GraphQLNamedType> {
    return this.#typeMap;
  }

  /**
   * Every type once, in order of their names. They belong to the caller alone, so what was looked at needs no room; and those
   * that they refer to are let go now and then, and made again for who asks next. For describing alone.
   */
  *passingTypes(): Iterable<GraphQLNamedType> {
    let passed = 0;
    for (const name of this.#types.names()) {
      yield this.#types.make(name)!;
      passed += 1;
      if (passed % keptWhilePassing === 0) this.#forget();
    }
    this.#forget();
  }

  #forget(): void {
    this.#types.forget();
    this.#implementations = null;
  }

  override getImplementations(type: GraphQLInterfaceType) {
    if (type.name !== 'Node') return { objects: [], interfaces: [] };
    this.#implementations ??= [...this.#objectNames()].sort().map((name) => {
      const object = this.#types.find(name);
      invariant(isObjectType(object), `${name} is an object type`);
      return object;
    });
    return { objects: this.#implementations, interfaces: [] };
  }
}

/** Things by name. */
interface LazySource<T> {
  names(): readonly string[];
  has(name: string): boolean;
  /** The same one each time; undefined when there is none. */
  find(name: string): T | undefined;
}

/** The things of a source in the order of their names, for reading alone. To list the names makes nothing. */
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
