/**
 * What the builders of types share: the model, and the named types of one schema, each made when it is first asked for.
 *
 * Types refer to each other by name through the registry, and a field whose type is not registered is left out: that
 * keeps a pruned schema closed by construction, and a thousand tables cost nothing until an operation names them.
 */
import {
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  isEnumType,
  isInputObjectType,
  isObjectType,
} from 'graphql';
import type { ExtensionName } from '../config/extensions.ts';
import { tableTypeNames } from '../model/inflect.ts';
import type { Model, SharedType, Table, TableType } from '../model/model.ts';
import { invariant } from '../shared/invariant.ts';

/** Which schema of a model is wanted. */
export interface SchemaOptions {
  /** Show the defaults of function arguments. Only where nothing is coerced: PostgreSQL applies them. */
  readonly displayDefaults: boolean;
  /** Whether what belongs to this namespace is part of the schema. */
  isVisible(namespace: string): boolean;
  /** Whether what belongs to this namespace is described in words of ours. Only where nothing is executed. */
  describes(namespace: string): boolean;
}

/** One schema in the making. */
export interface SchemaContext extends SchemaOptions {
  /** Whether what belongs to this namespace has the extension. */
  offers(namespace: string, extension: ExtensionName): boolean;
  readonly model: Model;
  readonly types: TypeRegistry;
}

/** An input type of a table that an extension adds; null where the table has none. */
export function addedInput(context: SchemaContext, table: Table, type: TableType): GraphQLInputObjectType | null {
  const found = addedType(context, table, type);
  invariant(found === null || isInputObjectType(found), `${type} is an input type`);
  return found;
}

/** An object type of a table that an extension adds; null where the table has none. */
export function addedObject(context: SchemaContext, table: Table, type: TableType): GraphQLObjectType | null {
  const found = addedType(context, table, type);
  invariant(found === null || isObjectType(found), `${type} is an object type`);
  return found;
}

/** An enum of a table that an extension adds; null where the table has none. */
export function addedEnum(context: SchemaContext, table: Table, type: TableType): GraphQLEnumType | null {
  const found = addedType(context, table, type);
  invariant(found === null || isEnumType(found), `${type} is an enum`);
  return found;
}

function addedType({ types }: SchemaContext, table: Table, type: TableType): GraphQLNamedType | null {
  // Without it, something else may have the name.
  return table.addedTypes.includes(type) ? (types.find(tableTypeNames(table.baseName)[type]) ?? null) : null;
}

/** An input type of no table that an extension adds; null where the schema has none. */
export function sharedInput({ model, types }: SchemaContext, name: SharedType): GraphQLInputObjectType | null {
  // Without it, something else may have the name.
  return model.addedTypes.includes(name) ? types.input(name) : null;
}

/** The types of one schema. Filled while the schema is assembled, read-only afterwards. */
export class TypeRegistry {
  readonly #makers = new Map<string, () => GraphQLNamedType>();
  readonly #made = new Map<string, GraphQLNamedType>();
  #names: readonly string[] | null = null;

  /** Announces a type. The model has settled all conflicts of names, so a second one of a name is our bug. */
  define(name: string, make: () => GraphQLNamedType): void {
    invariant(!this.#makers.has(name), `two types are named ${name}`);
    this.#makers.set(name, make);
    this.#names = null;
  }

  /** All names in code-point order. */
  names(): readonly string[] {
    this.#names ??= [...this.#makers.keys()].sort();
    return this.#names;
  }

  has(name: string): boolean {
    return this.#makers.has(name);
  }

  /** The type of this name, made now if need be; undefined when there is none. */
  find(name: string): GraphQLNamedType | undefined {
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    const type = this.make(name);
    if (type !== undefined) this.#made.set(name, type);
    return type;
  }

  /** A type of this name that no other refers to; undefined when there is none. */
  make(name: string): GraphQLNamedType | undefined {
    return this.#makers.get(name)?.();
  }

  /** Lets go what was made. Types that are still in use somewhere are not those that are made from now on. */
  forget(): void {
    this.#made.clear();
  }

  /** The object type of this name, null when it is not part of this schema. */
  object(name: string): GraphQLObjectType | null {
    const type = this.find(name) ?? null;
    invariant(type === null || isObjectType(type), `${name} is an object type`);
    return type;
  }

  /** The input type of this name, null when it is not part of this schema. */
  input(name: string): GraphQLInputObjectType | null {
    const type = this.find(name) ?? null;
    invariant(type === null || isInputObjectType(type), `${name} is an input type`);
    return type;
  }
}
