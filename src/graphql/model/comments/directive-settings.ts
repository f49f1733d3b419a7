/**
 * The settings of comment directives, typed and checked (docs/relationships.md).
 *
 * Returns the settings and the first mistake. A mistake fails every request of the role, so the settings beside it do
 * not matter.
 */
import { type ExtensionName, extensionNames, toExtensions } from '../../../config/extensions.ts';
import { isObject } from '../../../shared/json.ts';
import type { Catalog, CommentedObject } from '../../catalog/catalog.ts';

/** Field names of both sides of a junction table; null: derived from the tables. */
export interface ManyToMany {
  readonly from: string | null;
  readonly to: string | null;
}

/** Reads the keys of one directive and records the first with a wrong type. */
class DirectiveReader {
  readonly #value: Readonly<Record<string, unknown>>;
  problem: string | null = null;

  constructor(value: Readonly<Record<string, unknown>>) {
    this.#value = value;
  }

  /** Only JSON `true`. */
  isTrue(key: string): boolean {
    return this.#value[key] === true;
  }

  /** `{"enabled": true}`, or with the text `"true"`; null without the member. */
  isEnabled(key: string): boolean | null {
    const member = this.#value[key];
    if (!isObject(member) || !Object.hasOwn(member, 'enabled')) return null;
    return member.enabled === true || member.enabled === 'true';
  }

  /** A string; other values become their JSON text, which is usually not a valid name. */
  name(key: string): string | null {
    return this.#read<string | null>(key, null, '', (member) =>
      typeof member === 'string' ? member : JSON.stringify(member),
    );
  }

  text(key: string): string | null {
    return this.#read<string | null>(key, null, 'a string', (member) => (typeof member === 'string' ? member : null));
  }

  names(key: string): readonly string[] | null {
    return this.#read<readonly string[] | null>(key, null, 'an array of column names', (member) =>
      Array.isArray(member) && member.every((entry) => typeof entry === 'string') ? member : null,
    );
  }

  /** `true`, `false`, or a list of names. */
  extensions(key: string): readonly ExtensionName[] | null {
    const member = this.#value[key];
    if (typeof member === 'boolean') return member ? extensionNames : [];
    const names = this.#read<readonly string[] | null>(key, null, 'true, false or an array of names', (list) =>
      Array.isArray(list) && list.every((name) => typeof name === 'string') ? list : null,
    );
    try {
      return names && toExtensions(names);
    } catch (error) {
      return this.#refuse(`"${key}" ${(error as Error).message}`, null);
    }
  }

  /** The result of another method, which is required. */
  required<T>(key: string, value: T | null, substitute: T): T {
    return value ?? this.#refuse(`"${key}" is missing`, substitute);
  }

  /** An integer from 0, also as a string of digits. */
  rowCount(key: string): number | null {
    return this.#read<number | null>(key, null, 'a whole number from 0 to 2147483647', (member) => {
      const count = typeof member === 'string' && /^\d+$/.test(member) ? Number(member) : member;
      const isCount = typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= 2 ** 31 - 1;
      return isCount ? count : null;
    });
  }

  /** One of these words. A mistake counts only if the extension is on. */
  word<Word extends string>(key: string, words: readonly Word[]): Word | null | 'malformed' {
    const member = this.#value[key];
    if (member === undefined || member === null) return null;
    return words.find((word) => word === member) ?? 'malformed';
  }

  /** `true`, or an object with two field names. A mistake counts only if the extension is on. */
  manyToMany(key: string): ManyToMany | null | 'malformed' {
    const member = this.#value[key];
    if (member === undefined || member === null || member === false) return null;
    if (member === true) return { from: null, to: null };
    const isNames = ([name, value]: [string, unknown]) =>
      (name === 'from' || name === 'to') && typeof value === 'string';
    if (!isObject(member) || !Object.entries(member).every(isNames)) return 'malformed';
    return { from: null, to: null, ...member };
  }

  objects(key: string): readonly Readonly<Record<string, unknown>>[] {
    return this.#read<readonly Record<string, unknown>[]>(key, [], 'an array of objects', (member) =>
      Array.isArray(member) && member.every(isObject) ? member : null,
    );
  }

  mappings(key: string): ReadonlyMap<string, string> {
    return this.#read(key, new Map<string, string>(), 'an object from labels to names', (member) => {
      const entries = isObject(member) ? Object.entries(member) : null;
      return entries?.every((entry): entry is [string, string] => typeof entry[1] === 'string')
        ? new Map(entries)
        : null;
    });
  }

  /** @param accept Null: the value is not `expected`. */
  #read<T>(key: string, absent: T, expected: string, accept: (member: unknown) => T | null): T {
    const member = this.#value[key];
    if (member === undefined || member === null) return absent;
    return accept(member) ?? this.#refuse(`"${key}" must be ${expected}`, absent);
  }

  #refuse<T>(problem: string, substitute: T): T {
    this.problem ??= problem;
    return substitute;
  }
}

const readers = {
  namespace: (reader: DirectiveReader) => ({
    inflectNames: reader.isTrue('inflect_names'),
    introspection: reader.isTrue('introspection'),
    maxRows: reader.rowCount('max_rows'),
    extensions: reader.extensions('extensions'),
    numbers: reader.word('numbers', ['text']),
    json: reader.word('json', ['value', 'string']),
    totalCount: reader.isEnabled('totalCount'),
    aggregate: reader.isEnabled('aggregate'),
  }),
  /** A table of any kind. */
  table: (reader: DirectiveReader) => ({
    name: reader.name('name'),
    description: reader.text('description'),
    totalCount: reader.isEnabled('totalCount'),
    aggregate: reader.isEnabled('aggregate'),
    primaryKeyColumns: reader.names('primary_key_columns'),
    foreignKeys: reader.objects('foreign_keys').map((entry) => readForeignKey(reader, entry)),
    maxRows: reader.rowCount('max_rows'),
    manyToMany: reader.manyToMany('many_to_many'),
    partitions: reader.word('partitions', ['hidden']),
  }),
  column: (reader: DirectiveReader) => ({
    name: reader.name('name'),
    description: reader.text('description'),
  }),
  constraint: readRelationshipNames,
  /** The description may be any JSON value. */
  routine: (reader: DirectiveReader) => ({
    name: reader.name('name'),
    description: reader.name('description'),
    filter: reader.isTrue('filter'),
    order: reader.isTrue('order'),
  }),
  /** An enum, where `mappings` maps labels to GraphQL values, a composite type, which has only `name`, or a domain, which has only `opaque`. */
  type: (reader: DirectiveReader) => ({
    name: reader.name('name'),
    mappings: reader.mappings('mappings'),
    opaque: reader.isTrue('opaque'),
  }),
} satisfies Record<CommentedObject, (reader: DirectiveReader) => unknown>;

/** For a foreign key: field on the referencing side, field on the referenced side. */
function readRelationshipNames(reader: DirectiveReader) {
  return { foreignName: reader.name('foreign_name'), localName: reader.name('local_name') };
}

function readForeignKey(outer: DirectiveReader, entry: Readonly<Record<string, unknown>>) {
  const reader = new DirectiveReader(entry);
  const names = (key: string) => reader.required(key, reader.names(key), []);
  const text = (key: string) => reader.required(key, reader.text(key), '');
  const settings = {
    localColumns: names('local_columns'),
    foreignNamespace: text('foreign_schema'),
    foreignTable: text('foreign_table'),
    foreignColumns: names('foreign_columns'),
    ...readRelationshipNames(reader),
  };
  if (reader.problem !== null) outer.problem ??= `in "foreign_keys", ${reader.problem}`;
  return settings;
}

/** The settings of one kind of object; null for those not set. */
export type Settings<Kind extends CommentedObject> = ReturnType<(typeof readers)[Kind]>;

interface ReadSettings<Kind extends CommentedObject> {
  readonly settings: Settings<Kind>;
  readonly problem: string | null;
}

/** Of objects without a directive, which are nearly all. */
const unset = Object.fromEntries(
  Object.entries(readers).map(([kind, read]) => [kind, { settings: read(new DirectiveReader({})), problem: null }]),
) as { readonly [Kind in CommentedObject]: ReadSettings<Kind> };

/** The settings of an object, and the first mistake in them, null for none. */
export function readSettings<Kind extends CommentedObject>(
  catalog: Catalog,
  ...[kind, oid, column]: readonly [kind: Kind, oid: string, column?: number]
): ReadSettings<Kind> {
  const directive = catalog.directive(kind, oid, column);
  if (directive.kind === 'none') return unset[kind];
  const reader = new DirectiveReader(directive.kind === 'directive' ? directive.value : {});
  const settings = readers[kind](reader) as Settings<Kind>;
  if (directive.kind !== 'malformed') return { settings, problem: reader.problem };
  return { settings, problem: `${directive.problem} at character ${directive.position} of the comment` };
}
