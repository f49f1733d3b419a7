/**
 * Composite types and row types of tables as inputs (extension `writes`, docs/functions.md). An attribute that has no
 * field is null in every call: the columns that a role may not select are not shown to it.
 */
import type { CatalogType } from '../catalog/catalog.ts';
import { readSettings } from './comments/directive-settings.ts';
import { baseForm, fieldForm, inputTypeName, isValidName } from './inflect.ts';
import type { ArgumentType, CompositeAttribute, CompositeType, Table } from './model.ts';
import { type ModelContext, pathIn } from './model-context.ts';
import { type TypeResolver, type TypeResolvers, unmodified } from './resolve-type.ts';
import { elementOf } from './sql-types.ts';

/** Levels of composite types in each other: every level may double the length of a text. */
const maxLevels = 3;

interface CompositeScope {
  readonly context: ModelContext;
  readonly types: TypeResolvers;
  readonly tables: ReadonlyMap<string, Pick<Table, 'baseName' | 'columns'>>;
}

interface Found {
  readonly type: CompositeType;
  readonly levels: number;
}

/** The composite types that arguments of one model have, found on first use. */
export class Composites {
  readonly #scope: CompositeScope;
  /** By oid: the type, or why it is no input, as the end of a sentence. */
  readonly #found = new Map<string, Found | string>();

  constructor(scope: CompositeScope) {
    this.#scope = scope;
  }

  /** The types found so far, by oid. */
  get types(): ReadonlyMap<string, CompositeType> {
    return new Map(
      [...this.#found].flatMap(([oid, found]) => (typeof found === 'string' ? [] : [[oid, found.type] as const])),
    );
  }

  /** The type of an argument that is composite or an array of it; null for others; else why it is none. */
  argument(oid: string): Extract<ArgumentType, { kind: 'composite' }> | string | null {
    const { catalog } = this.#scope.context;
    const type = catalog.type(oid);
    const element = elementOf(catalog.type, type);
    const single = element ?? type;
    if (single?.typtype !== 'c') return null;
    const found = this.#find(single);
    if (typeof found === 'string') return found;
    return { kind: 'composite', composite: single._id, isList: element !== null, cast: this.#cast(oid) };
  }

  #cast(oid: string) {
    return this.#scope.types(null).cast(unmodified(oid));
  }

  #find(type: CatalogType): Found | string {
    const known = this.#found.get(type._id);
    if (known !== undefined) return known;
    const found = this.#build(type);
    this.#found.set(type._id, found);
    return found;
  }

  #build(type: CatalogType): Found | string {
    const { context, tables } = this.#scope;
    const path = pathIn(context.catalog, type.typnamespace, type.typname);
    const table = tables.get(type.typrelid ?? '0');
    const problem = table === undefined ? whyHidden(context, type) : null;
    if (problem !== null) return `${path}, ${problem}`;
    const attributes = table === undefined ? this.#ownAttributes(type) : this.#columns(table);
    if (attributes.every(({ fieldName }) => fieldName === null))
      return `${path}, none of whose attributes GraphQL can show. Take json in its place`;
    const levels = 1 + Math.max(...attributes.map((attribute) => this.#levelsOf(attribute)));
    if (levels > maxLevels)
      return `${path}, which has more than ${maxLevels} levels of composite types. Take json in its place`;
    const namespace = context.namespaces.get(type.typnamespace)!;
    const base =
      table?.baseName ??
      readSettings(context.catalog, 'type', type._id).settings.name ??
      baseForm(type.typname, namespace.inflectNames);
    const { name } = namespace;
    const inputName = inputTypeName(base);
    if (!isValidName(inputName))
      return `${path}, which has no valid GraphQL name. Give it one by name in its comment directive`;
    return {
      type: { oid: type._id, namespace: name, name: type.typname, table: type.typrelid ?? null, inputName, attributes },
      levels,
    };
  }

  #levelsOf({ type }: CompositeAttribute): number {
    const found = type?.kind === 'composite' ? this.#found.get(type.composite) : undefined;
    return found === undefined || typeof found === 'string' ? 0 : found.levels;
  }

  #ownAttributes(type: CatalogType): readonly CompositeAttribute[] {
    const { context, types } = this.#scope;
    const namespace = context.namespaces.get(type.typnamespace)!;
    const taken = new Set<string>();
    return type.getAttributes().map(({ attname, atttypid, atttypmod }, index) => {
      const name = fieldForm(attname, namespace.inflectNames);
      const attribute = this.#attributeType(types(namespace), atttypid);
      const isField = attribute !== null && isValidName(name) && !taken.has(name);
      if (isField) taken.add(name);
      const cast = types(namespace).cast({ oid: atttypid, typmod: atttypmod ?? -1, text: null });
      return { number: index + 1, name: attname, fieldName: isField ? name : null, type: attribute, cast };
    });
  }

  #attributeType(types: TypeResolver, oid: string): ArgumentType | null {
    const composite = this.argument(oid);
    if (typeof composite === 'string') return null;
    return composite ?? textType(types.value(unmodified(oid)));
  }

  #columns({ columns }: Pick<Table, 'columns'>): readonly CompositeAttribute[] {
    const taken = new Set<string>();
    return columns.map(({ number, name, fieldName, type, cast, selectable }) => {
      const composite = type === null ? this.argument(cast.oid) : null;
      const attribute = typeof composite === 'string' ? null : (composite ?? textType(type));
      const isField = selectable && attribute !== null && fieldName !== null && !taken.has(fieldName);
      if (isField) taken.add(fieldName);
      return { number, name, fieldName: isField ? fieldName : null, type: attribute, cast };
    });
  }
}

/** Why the role must not see the composite type, as the end of a sentence. */
export function whyHidden({ namespaces, access }: ModelContext, type: CatalogType): string | null {
  if (type.getAttributes().length === 0) return 'whose table is not exposed. The function comes in with that table';
  if (namespaces.get(type.typnamespace)?.exposed !== true)
    return 'whose schema is not exposed. Add the schema to --schemas, and grant usage on it, or move the type';
  if (access.usesType(type._id)) return null;
  return 'on which the role has no USAGE. Grant usage on the type to roles that call the function';
}

/** Null for arrays with other separators than commas: inside of a composite value, they are written by PostgreSQL's rules. */
function textType<T extends ArgumentType>(type: T | null): T | null {
  return type?.cast.fromTexts ? null : type;
}
