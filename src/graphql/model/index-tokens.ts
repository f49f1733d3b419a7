/** Expressions of unique indexes, as plain data that any search path prints alike. */

/** An expression over a table's columns, in tokens, with the schema of every name. */
export type IndexExpression = readonly IndexToken[];

/** A token of an index expression. */
export type IndexToken =
  | { readonly kind: 'column'; readonly number: number }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'number'; readonly value: number }
  | ({ readonly kind: 'function' | 'operator' | 'cast' } & { readonly namespace: string; readonly name: string })
  | { readonly kind: 'word'; readonly word: IndexWord };

/** Key words and marks of index expressions. */
export type IndexWord =
  | 'AND' | 'OR' | 'NOT' | 'IS' | 'NULL' | 'TRUE' | 'FALSE' | 'UNKNOWN' | 'ANY' | 'ALL' | 'ARRAY' | 'COALESCE' | 'GREATEST' | 'LEAST'
  | 'AT' | 'TIME' | 'ZONE' | '(' | ')' | '[' | ']' | ','; // biome-ignore format: a list of words
