/**
 * Every GraphQL name that is made from a PostgreSQL name or from another GraphQL name, as pg_graphql makes them.
 *
 * Inflection is a switch of a namespace; the functions take it as their last argument. Names given by a comment directive
 * are verbatim and never pass through `baseForm` or `fieldForm`.
 */

const alphanumeric = /[\p{Alphabetic}\p{N}]/u;

/** Base form of an SQL name: `loan_state` gives `LoanState`; the name itself with inflection off. */
export function baseForm(name: string, inflect: boolean): string {
  if (!inflect) return name;
  // One word, as most names of many columns are: nothing to look for inside.
  if (/^[A-Za-z][A-Za-z0-9]*$/.test(name)) return name.charAt(0).toUpperCase() + name.slice(1);
  let result = '';
  let startsWord = true;
  for (const character of name) {
    if (character !== '_') result += startsWord ? character.toUpperCase() : character;
    startsWord = !alphanumeric.test(character);
  }
  return result;
}

/** Field form of an SQL name: `loan_state` gives `loanState`; with inflection off the name itself, in its own case. */
export function fieldForm(name: string, inflect: boolean): string {
  return inflect ? lowerFirst(baseForm(name, true)) : name;
}

/** Field of a routine: without one leading underscore, and with a small first letter even with inflection off. */
export function routineForm(name: string, inflect: boolean): string {
  return lowerFirst(baseForm(name.startsWith('_') ? name.slice(1) : name, inflect));
}

/** Argument of a routine: field form, and with a small first letter even with inflection off. */
export function argumentForm(name: string, inflect: boolean): string {
  return lowerFirst(baseForm(name, inflect));
}

/**
 * Field of a to-one relationship: the only key column without its id suffix, else the target's base name.
 *
 * @param columns SQL names of the key columns on the side that the rule reads.
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

/** The types that belong to a table, by what they are for. */
export function tableTypeNames(base: string) {
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
    collectionFilter: `${base}CollectionFilter`,
    aggregateFilter: `${base}AggregateFilter`,
    distinctCountFilter: `${base}DistinctCountFilter`,
    sumFilter: `${base}SumFilter`,
    avgFilter: `${base}AvgFilter`,
    minFilter: `${base}MinFilter`,
    maxFilter: `${base}MaxFilter`,
    column: `${base}Column`,
    group: `${base}Group`,
    groupKey: `${base}GroupKey`,
    groupBy: `${base}GroupBy`,
    groupOrderBy: `${base}GroupOrderBy`,
    collectionOrderBy: `${base}CollectionOrderBy`,
    sumOrderBy: `${base}SumOrderBy`,
    avgOrderBy: `${base}AvgOrderBy`,
    minOrderBy: `${base}MinOrderBy`,
    maxOrderBy: `${base}MaxOrderBy`,
    distinctCount: `${base}DistinctCount`,
  } as const;
}

/** The input with the arguments of a function that rows are filtered or ordered by. */
export function functionInputName(base: string, fieldName: string, input: 'filter' | 'order'): string {
  return `${base}${baseForm(fieldName, true)}${input === 'filter' ? 'FilterInput' : 'OrderInput'}`;
}

/** Filter input of an enum. */
export const enumFilterName = (enumName: string): string => `${enumName}Filter`;

/** The root fields of a table; `collection` is also the field of a to-many relationship that leads to it. */
export function tableRootFields(base: string) {
  return {
    collection: `${lowerFirst(base)}Collection`,
    byPk: `${lowerFirst(base)}ByPk`,
    insert: `insertInto${base}Collection`,
    update: `update${base}Collection`,
    delete: `deleteFrom${base}Collection`,
  } as const;
}
