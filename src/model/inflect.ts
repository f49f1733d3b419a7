/**
 * Every GraphQL name that is made from a PostgreSQL name or from another GraphQL name (graphql.md 2.1 to 2.3, 2.5).
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
 * @param columns SQL names of the key columns on the side that the rule reads (graphql.md 2.5).
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

/** Whether GraphQL accepts the name; two leading underscores are reserved (graphql.md 1.8). */
export function isValidName(name: string): boolean {
  return /^(?!__)[_A-Za-z][_0-9A-Za-z]*$/.test(name);
}

/** Type of one edge. */
export const edgeName = (base: string): string => `${base}Edge`;
/** Type of a page of rows. */
export const connectionName = (base: string): string => `${base}Connection`;
/** Filter input of a table. */
export const filterName = (base: string): string => `${base}Filter`;
/** Order-by input of a table. */
export const orderByName = (base: string): string => `${base}OrderBy`;
/** Input of one row to insert. */
export const insertInputName = (base: string): string => `${base}InsertInput`;
/** Input of the columns to set. */
export const updateInputName = (base: string): string => `${base}UpdateInput`;
/** Payload of the insert field. */
export const insertResponseName = (base: string): string => `${base}InsertResponse`;
/** Payload of the update field. */
export const updateResponseName = (base: string): string => `${base}UpdateResponse`;
/** Payload of the delete field. */
export const deleteResponseName = (base: string): string => `${base}DeleteResponse`;
/** Type of the aggregates over a connection. */
export const aggregateName = (base: string): string => `${base}Aggregate`;
/** Type of the sums. */
export const sumAggregateName = (base: string): string => `${base}SumAggregateResult`;
/** Type of the averages. */
export const avgAggregateName = (base: string): string => `${base}AvgAggregateResult`;
/** Type of the smallest values. */
export const minAggregateName = (base: string): string => `${base}MinAggregateResult`;
/** Type of the largest values. */
export const maxAggregateName = (base: string): string => `${base}MaxAggregateResult`;
/** Filter input of an enum. */
export const enumFilterName = (enumName: string): string => `${enumName}Filter`;

/** Root field of all rows; also the field of a to-many relationship that leads to the table. */
export const rootCollectionField = (base: string): string => `${lowerFirst(base)}Collection`;
/** Root field of one row by its primary key. */
export const byPkField = (base: string): string => `${lowerFirst(base)}ByPk`;
/** Root field that inserts. */
export const insertField = (base: string): string => `insertInto${base}Collection`;
/** Root field that updates. */
export const updateField = (base: string): string => `update${base}Collection`;
/** Root field that deletes. */
export const deleteField = (base: string): string => `deleteFrom${base}Collection`;
