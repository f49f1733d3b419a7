/**
 * All GraphQL names derived from PostgreSQL names or other GraphQL names, by pg_graphql's rules.
 *
 * Inflection is a switch of a namespace, passed as the last argument. Names in comment directives are used verbatim and
 * never pass through `baseForm` or `fieldForm`.
 */

const alphanumeric = /[\p{Alphabetic}\p{N}]/u;

/** Base form of an SQL name: `loan_state` gives `LoanState`; the name itself with inflection off. */
export function baseForm(name: string, inflect: boolean): string {
  if (!inflect) return name;
  // Fast path for a single word.
  if (/^[A-Za-z][A-Za-z0-9]*$/.test(name)) return name.charAt(0).toUpperCase() + name.slice(1);
  let result = '';
  let startsWord = true;
  for (const character of name) {
    if (character !== '_') result += startsWord ? character.toUpperCase() : character;
    startsWord = !alphanumeric.test(character);
  }
  return result;
}

/** Field form of an SQL name: `loan_state` gives `loanState`; with inflection off, the unchanged name. */
export function fieldForm(name: string, inflect: boolean): string {
  return inflect ? lowerFirst(baseForm(name, true)) : name;
}

/** Field of a routine: without one leading underscore, and with a lower-case first letter even with inflection off. */
export function routineForm(name: string, inflect: boolean): string {
  return lowerFirst(baseForm(name.startsWith('_') ? name.slice(1) : name, inflect));
}

/** Argument of a routine: field form, with a lower-case first letter even with inflection off. */
export function argumentForm(name: string, inflect: boolean): string {
  return lowerFirst(baseForm(name, inflect));
}

/**
 * Field of a to-one relationship: the single key column without its id suffix, otherwise the target's base name.
 *
 * @param columns SQL names of the key columns on the side the rule uses.
 * @param inflect The switch of the target's namespace.
 */
export function toOneField(columns: readonly string[], targetBaseName: string, inflect: boolean): string {
  const suffix = inflect ? '_id' : 'Id';
  const [only] = columns;
  if (columns.length === 1 && only?.endsWith(suffix)) {
    return lowerFirst(baseForm(only.slice(0, -suffix.length), inflect));
  }
  return lowerFirst(targetBaseName);
}

/** The name of several fields together: `tenantIdAndNumber`. */
export function inflectedAnd(names: readonly string[]): string {
  return names.map((name, index) => (index === 0 ? name : `And${baseForm(name, true)}`)).join('');
}

/** The name with its first character in lower case. */
export function lowerFirst(name: string): string {
  const first = name.codePointAt(0);
  if (first === undefined) return name;
  const character = String.fromCodePoint(first);
  return character.toLowerCase() + name.slice(character.length);
}

/** Whether GraphQL accepts the name; two leading underscores are reserved (GraphQL specification, "Names" and "Reserved Names"). */
export function isValidName(name: string): boolean {
  return /^(?!__)[_A-Za-z][_0-9A-Za-z]*$/.test(name);
}

/** Whether the name can be that of an enum value: `true`, `false` and `null` are literals. */
export function isEnumValueName(name: string): boolean {
  return isValidName(name) && !['true', 'false', 'null'].includes(name);
}

function allTypeNames(base: string) {
  return {
    edge: `${base}Edge`,
    connection: `${base}Connection`,
    filter: `${base}Filter`,
    orderBy: `${base}OrderBy`,
    insertInput: `${base}InsertInput`,
    updateInput: `${base}UpdateInput`,
    insertResponse: `${base}InsertResponse`,
    updateResponse: `${base}UpdateResponse`,
    deleteResponse: `${base}DeleteResponse`,
    aggregate: `${base}Aggregate`,
    sum: `${base}SumAggregateResult`,
    avg: `${base}AvgAggregateResult`,
    min: `${base}MinAggregateResult`,
    max: `${base}MaxAggregateResult`,
    bool: `${base}BoolAggregateResult`,
    collectionFilter: `${base}CollectionFilter`,
    aggregateFilter: `${base}AggregateFilter`,
    distinctCountFilter: `${base}DistinctCountFilter`,
    aggregateColumnFilter: `${base}AggregateColumnFilter`,
    column: `${base}Column`,
    groupKey: `${base}GroupKey`,
    groupBy: `${base}GroupBy`,
    aggregateOrderBy: `${base}AggregateOrderBy`,
    distinctCount: `${base}DistinctCount`,
    nestedInsert: `${base}NestedInsert`,
    nestedInsertOnly: `${base}NestedInsert`,
    nestedInsertOne: `${base}NestedInsertOne`,
    nestedUpdate: `${base}NestedUpdate`,
    nestedUpdateOne: `${base}NestedUpdateOne`,
    key: `${base}Key`,
    removeInput: `${base}RemoveInput`,
    onConflict: `${base}OnConflict`,
    constraint: `${base}Constraint`,
    updateEntry: `${base}UpdateEntry`,
  } as const;
}

/** The purposes of a table's types, each with what follows the base name. */
export const tableTypeSuffixes: Readonly<Record<TableType, string>> = allTypeNames('');

/** The purpose of a table's type. */
type TableType = keyof ReturnType<typeof allTypeNames>;

/** Makes each name when it is read: models ask for a few names of ten thousand tables. */
class TableTypeNames {
  readonly #base: string;

  constructor(base: string) {
    this.#base = base;
  }

  static {
    for (const [type, suffix] of Object.entries(tableTypeSuffixes)) {
      Object.defineProperty(TableTypeNames.prototype, type, {
        get(this: TableTypeNames) {
          return this.#base + suffix;
        },
      });
    }
  }
}

/** The types of a table, by purpose. */
export function tableTypeNames(base: string): Readonly<Record<TableType, string>> {
  return new TableTypeNames(base) as unknown as Readonly<Record<TableType, string>>;
}

/** The input for the arguments of a function that filters or orders rows. */
export function functionInputName(base: string, fieldName: string, input: 'filter' | 'order'): string {
  return `${base}${baseForm(fieldName, true)}${input === 'filter' ? 'FilterInput' : 'OrderInput'}`;
}

/** The object type of a function's result. @param base Name of the table whose row the function takes; empty for others. */
export function resultTypeName(base: string, fieldName: string): string {
  return `${base}${baseForm(fieldName, true)}Result`;
}

/** The input of a composite type, or of a table's row type. */
export const inputTypeName = (base: string): string => `${base}Input`;

/** Filter input of an enum. */
export const enumFilterName = (enumName: string): string => `${enumName}Filter`;

/** Filter input of lists of an enum. */
export const enumListFilterName = (enumName: string): string => `${enumName}ListFilter`;

/** The root fields of a table; `collection` is also the field of a to-many relationship that leads to it. */
export function tableRootFields(base: string) {
  return {
    collection: `${lowerFirst(base)}Collection`,
    byPk: `${lowerFirst(base)}ByPk`,
    insert: `insertInto${base}Collection`,
    update: `update${base}Collection`,
    updateMany: `updateMany${base}Collection`,
    delete: `deleteFrom${base}Collection`,
    insertOne: `insert${base}`,
    updateByPk: `update${base}ByPk`,
    deleteByPk: `delete${base}ByPk`,
  } as const;
}
