/**
 * Shared by the builders of types: the model, and the named types of one schema, each made on first use.
 *
 * Types refer to each other by name through the registry, and a field with an unregistered type is left out. A pruned
 * schema is therefore closed by construction, and a thousand tables cost nothing until an operation uses them.
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
import { invariant } from '../../shared/invariant.ts';
import { type Sliced, sliceIsOver, sortInSlices, withoutPauses } from '../../shared/slices.ts';
import type { SharedType } from '../model/extensions/shared-types.ts';
import { tableTypeNames, tableTypeSuffixes } from '../model/inflect.ts';
import type { Model, Table, TableType } from '../model/model.ts';

/** Options of a model's schema. */
export interface SchemaOptions {
  /** Show the defaults of function arguments. Only if nothing is coerced: PostgreSQL applies them. */
  readonly displayDefaults: boolean;
  /** Whether objects of this namespace are in the schema. */
  isVisible(namespace: string): boolean;
  /** Whether objects of this namespace get our descriptions. Only if nothing is executed. */
  describes(namespace: string): boolean;
}

/** A schema being built. */
export interface SchemaContext extends SchemaOptions {
  /** Whether the extension `reads` applies to objects of this namespace. */
  hasReads(namespace: string): boolean;
  /** The same of the extension `writes`. */
  hasWrites(namespace: string): boolean;
  readonly model: Model;
  readonly types: TypeRegistry;
}

/** An extension's input type for a table; null for none. */
export function addedInput(context: SchemaContext, table: Table, type: TableType): GraphQLInputObjectType | null {
  const found = addedType(context, table, type);
  invariant(found === null || isInputObjectType(found), `${type} is an input type`);
  return found;
}

/** An extension's object type for a table; null for none. */
export function addedObject(context: SchemaContext, table: Table, type: TableType): GraphQLObjectType | null {
  const found = addedType(context, table, type);
  invariant(found === null || isObjectType(found), `${type} is an object type`);
  return found;
}

/** An extension's enum for a table; null for none. */
export function addedEnum(context: SchemaContext, table: Table, type: TableType): GraphQLEnumType | null {
  const found = addedType(context, table, type);
  invariant(found === null || isEnumType(found), `${type} is an enum`);
  return found;
}

function addedType({ types }: SchemaContext, table: Table, type: TableType): GraphQLNamedType | null {
  // Otherwise, the name may belong to another type.
  return table.addedTypes.includes(type) ? (types.find(tableTypeNames(table.baseName)[type]) ?? null) : null;
}

/** An extension's shared input type; null for none. */
export function sharedInput({ model, types }: SchemaContext, name: SharedType): GraphQLInputObjectType | null {
  // Otherwise, the name may belong to another type.
  return model.addedTypes.includes(name) ? types.input(name) : null;
}

/** Registers a type. */
export type DefineType = (name: string, make: () => GraphQLNamedType) => void;

/** What may follow the base name in the name of a table's type. */
const suffixes: readonly string[] = ['', ...new Set(Object.values(tableTypeSuffixes))];

/** Names of a table's types that depend on its columns and functions. */
function otherNames({ filterFunctions, orderFunctions, keys }: Table): readonly string[] {
  const inputs = [...filterFunctions, ...orderFunctions].flatMap(({ input }) => input ?? []);
  return [...inputs, ...keys.flatMap(({ inputName }) => inputName ?? [])];
}

/** A table that a role may write has about so many types. */
const typesOfTable = 25;

/** The types of one schema. Those of a table are registered when one of them is asked for. */
export class TypeRegistry {
  readonly #makers = new Map<string, () => GraphQLNamedType>();
  /** By base name; without those that were asked for. */
  readonly #tables = new Map<string, (define: DefineType) => void>();
  /** Base names by names of types that are not made of them and a suffix. */
  readonly #others = new Map<string, string>();
  readonly #made = new Map<string, GraphQLNamedType>();
  #names: readonly string[] | null = null;

  /** Registers a type. The model has resolved all name conflicts, so a duplicate is our bug. */
  define(name: string, make: () => GraphQLNamedType): void {
    invariant(!this.#makers.has(name), `two types are named ${name}`);
    this.#makers.set(name, make);
    this.#names = null;
  }

  /** The same for the types of a table, once one of them is asked for. */
  defineTable(table: Table, defineTypes: (define: DefineType) => void): void {
    const { baseName } = table;
    invariant(!this.#tables.has(baseName), `two tables are named ${baseName}`);
    this.#tables.set(baseName, defineTypes);
    for (const name of otherNames(table)) this.#others.set(name, baseName);
  }

  /** Registers the types of all tables, and sorts their names. */
  *defineAll(): Sliced<readonly string[]> {
    for (const baseName of this.#tables.keys()) {
      if (sliceIsOver()) yield;
      this.#reach(baseName);
    }
    this.#names ??= yield* sortInSlices(this.#makers.keys());
    return this.#names;
  }

  #reach(baseName: string): void {
    const defineTypes = this.#tables.get(baseName);
    if (defineTypes === undefined) return;
    this.#tables.delete(baseName);
    defineTypes((name, make) => this.define(name, make));
  }

  #makerOf(name: string): (() => GraphQLNamedType) | undefined {
    const known = this.#makers.get(name);
    if (known !== undefined || this.#tables.size === 0) return known;
    for (const suffix of suffixes) if (name.endsWith(suffix)) this.#reach(name.slice(0, name.length - suffix.length));
    this.#reach(this.#others.get(name) ?? '');
    return this.#makers.get(name);
  }

  /** How many types there are, about: those of tables that nothing has asked for are not counted one by one. */
  get size(): number {
    return this.#makers.size + this.#tables.size * typesOfTable;
  }

  /** All names in code-point order. */
  names(): readonly string[] {
    return withoutPauses(this.defineAll());
  }

  has(name: string): boolean {
    return this.#makerOf(name) !== undefined;
  }

  /** The type of this name, made on first use; undefined for an unknown name. */
  find(name: string): GraphQLNamedType | undefined {
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    const type = this.make(name);
    if (type !== undefined) this.#made.set(name, type);
    return type;
  }

  /** A new type of this name, not cached; undefined for an unknown name. */
  make(name: string): GraphQLNamedType | undefined {
    return this.#makerOf(name)?.();
  }

  /** Drops the made types. Types still in use differ from those made later. */
  forget(): void {
    this.#made.clear();
  }

  /** The object type of this name, null if not in this schema. */
  object(name: string): GraphQLObjectType | null {
    const type = this.find(name) ?? null;
    invariant(type === null || isObjectType(type), `${name} is an object type`);
    return type;
  }

  /** The input type of this name, null if not in this schema. */
  input(name: string): GraphQLInputObjectType | null {
    const type = this.find(name) ?? null;
    invariant(type === null || isInputObjectType(type), `${name} is an input type`);
    return type;
  }
}
