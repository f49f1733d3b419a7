/**
 * The settings that comment directives may hold, typed and checked (graphql.md 3.3 to 3.8).
 *
 * Each reader returns the settings and the first mistake it met. A mistake makes every request of the role fail, so what
 * the settings say beside one does not matter.
 */
import type { Catalog, CommentedObject } from '../catalog/catalog.ts';
import { isObject } from '../catalog/comment-directive.ts';

/** Settings with the first mistake among them, null without one. */
export interface Checked<T> {
  readonly settings: T;
  readonly problem: string | null;
}

/** Of a namespace. */
export interface NamespaceSettings {
  readonly inflectNames: boolean;
  readonly introspection: boolean;
  readonly maxRows: number | null;
}

/** Of a table of any kind. */
export interface TableSettings {
  readonly name: string | null;
  readonly description: string | null;
  readonly totalCount: boolean;
  readonly aggregate: boolean;
  readonly primaryKeyColumns: readonly string[] | null;
  readonly foreignKeys: readonly ForeignKeySettings[];
  readonly maxRows: number | null;
}

/** One entry of `foreign_keys`. */
export interface ForeignKeySettings extends RelationshipNames {
  readonly localColumns: readonly string[];
  readonly foreignNamespace: string;
  readonly foreignTable: string;
  readonly foreignColumns: readonly string[];
}

/** Of a foreign key: field on the referencing side, field on the referenced side. */
export interface RelationshipNames {
  readonly foreignName: string | null;
  readonly localName: string | null;
}

/** Of a column or a routine. */
export interface NamedSettings {
  readonly name: string | null;
  readonly description: string | null;
}

/** Of an enum type; `mappings` goes from label to GraphQL value. */
export interface EnumSettings {
  readonly name: string | null;
  readonly mappings: ReadonlyMap<string, string>;
}

/** Reads the keys of one directive and remembers the first that has a wrong type. */
class DirectiveReader {
  readonly #value: Readonly<Record<string, unknown>>;
  problem: string | null = null;

  constructor(value: Readonly<Record<string, unknown>>) {
    this.#value = value;
  }

  /** JSON `true` only. */
  isTrue(key: string): boolean {
    return this.#value[key] === true;
  }

  /** `{"enabled": true}`, also with the text `"true"`. */
  isEnabled(key: string): boolean {
    const member = this.#value[key];
    return isObject(member) && (member.enabled === true || member.enabled === 'true');
  }

  /** A string; anything else stands for its JSON text, which is normally no valid name. */
  name(key: string): string | null {
    const member = this.#value[key];
    if (member === undefined || member === null) return null;
    return typeof member === 'string' ? member : JSON.stringify(member);
  }

  text(key: string): string | null {
    const member = this.#value[key];
    if (member === undefined || member === null) return null;
    if (typeof member === 'string') return member;
    return this.#refuse(`"${key}" must be a string`, null);
  }

  required(key: string): string {
    return this.text(key) ?? this.#refuse(`"${key}" is missing`, '');
  }

  names(key: string): readonly string[] | null {
    const member = this.#value[key];
    if (member === undefined || member === null) return null;
    if (Array.isArray(member) && member.every((entry) => typeof entry === 'string')) return member;
    return this.#refuse(`"${key}" must be an array of column names`, null);
  }

  requiredNames(key: string): readonly string[] {
    return this.names(key) ?? this.#refuse(`"${key}" is missing`, []);
  }

  /** A whole number from 0, also as a string of digits. */
  rowCount(key: string): number | null {
    const member = this.#value[key];
    if (member === undefined || member === null) return null;
    const count = typeof member === 'string' && /^\d+$/.test(member) ? Number(member) : member;
    if (typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= 2 ** 31 - 1) return count;
    return this.#refuse(`"${key}" must be a whole number from 0 to 2147483647`, null);
  }

  objects(key: string): readonly Readonly<Record<string, unknown>>[] {
    const member = this.#value[key];
    if (member === undefined || member === null) return [];
    if (Array.isArray(member) && member.every(isObject)) return member;
    return this.#refuse(`"${key}" must be an array of objects`, []);
  }

  mappings(key: string): ReadonlyMap<string, string> {
    const member = this.#value[key];
    if (member === undefined || member === null) return new Map();
    const entries = isObject(member) ? Object.entries(member) : null;
    if (entries?.every((entry): entry is [string, string] => typeof entry[1] === 'string')) return new Map(entries);
    return this.#refuse(`"${key}" must be an object from labels to names`, new Map());
  }

  #refuse<T>(problem: string, substitute: T): T {
    this.problem ??= problem;
    return substitute;
  }
}

function check<T>(
  catalog: Catalog,
  [kind, oid, column]: readonly [kind: CommentedObject, oid: string, column?: number],
  read: (reader: DirectiveReader) => T,
): Checked<T> {
  const directive = catalog.directive(kind, oid, column);
  if (directive.kind === 'malformed') {
    const problem = `${directive.problem} at character ${directive.position} of the comment`;
    return { settings: read(new DirectiveReader({})), problem };
  }
  const reader = new DirectiveReader(directive.kind === 'directive' ? directive.value : {});
  const settings = read(reader);
  return { settings, problem: reader.problem };
}

/** Settings of a namespace. */
export function namespaceSettings(catalog: Catalog, oid: string): Checked<NamespaceSettings> {
  return check(catalog, ['namespace', oid], (reader) => ({
    inflectNames: reader.isTrue('inflect_names'),
    introspection: reader.isTrue('introspection'),
    maxRows: reader.rowCount('max_rows'),
  }));
}

/** Settings of a table of any kind. */
export function tableSettings(catalog: Catalog, oid: string): Checked<TableSettings> {
  return check(catalog, ['table', oid], (reader) => ({
    name: reader.name('name'),
    description: reader.text('description'),
    totalCount: reader.isEnabled('totalCount'),
    aggregate: reader.isEnabled('aggregate'),
    primaryKeyColumns: reader.names('primary_key_columns'),
    foreignKeys: reader.objects('foreign_keys').map((entry) => foreignKey(reader, entry)),
    maxRows: reader.rowCount('max_rows'),
  }));
}

function foreignKey(outer: DirectiveReader, entry: Readonly<Record<string, unknown>>): ForeignKeySettings {
  const reader = new DirectiveReader(entry);
  const settings = {
    localColumns: reader.requiredNames('local_columns'),
    foreignNamespace: reader.required('foreign_schema'),
    foreignTable: reader.required('foreign_table'),
    foreignColumns: reader.requiredNames('foreign_columns'),
    foreignName: reader.name('foreign_name'),
    localName: reader.name('local_name'),
  };
  if (reader.problem !== null) outer.problem ??= `in "foreign_keys", ${reader.problem}`;
  return settings;
}

/** Settings of a column, by attribute number. */
export function columnSettings(catalog: Catalog, table: string, column: number): Checked<NamedSettings> {
  return check(catalog, ['column', table, column], (reader) => ({
    name: reader.name('name'),
    description: reader.text('description'),
  }));
}

/** Settings of a foreign-key constraint. */
export function constraintSettings(catalog: Catalog, oid: string): Checked<RelationshipNames> {
  return check(catalog, ['constraint', oid], (reader) => ({
    foreignName: reader.name('foreign_name'),
    localName: reader.name('local_name'),
  }));
}

/** Settings of a routine; its description may be any JSON value (graphql.md 3.8). */
export function routineSettings(catalog: Catalog, oid: string): Checked<NamedSettings> {
  return check(catalog, ['routine', oid], (reader) => ({
    name: reader.name('name'),
    description: reader.name('description'),
  }));
}

/** Settings of an enum type. */
export function enumSettings(catalog: Catalog, oid: string): Checked<EnumSettings> {
  return check(catalog, ['type', oid], (reader) => ({
    name: reader.name('name'),
    mappings: reader.mappings('mappings'),
  }));
}
