/**
 * How the rows of a statement become the JSON text of `data`, where the gateway makes it (print-rows.ts says when). Plain data;
 * execute/answer/rows-answer.ts follows it. The text is the same, byte for byte, as PostgreSQL would have made.
 */
import type { LimitPlan } from '../plan/plan.ts';

/**
 * How the text of a column, as PostgreSQL sends it, becomes JSON; SQL null is always `null`.
 *
 * - `json`: it is JSON.
 * - `text`: a string to be escaped.
 * - `quoted`: a string that never needs escapes.
 * - `number`: a number, or a string where JSON has no such number (NaN, infinities).
 * - `boolean`: `t` or `f`.
 */
export type ColumnForm = 'json' | 'text' | 'quoted' | 'number' | 'boolean';

/** A column of the statement's rows. */
export interface AnswerColumn {
  /** From 0. */
  readonly index: number;
  readonly form: ColumnForm;
}

/** A piece of the JSON of one row: a constant, a column, or the cursor that is made of columns. */
export type RowPiece =
  | string
  | ({ readonly kind: 'column' } & AnswerColumn)
  | { readonly kind: 'cursor'; readonly columns: readonly AnswerColumn[] };

/** A piece of the answer: of `data`, or of a mutation's field. */
export type AnswerPiece =
  | string
  /** The rows of the page, with commas in between. */
  | { readonly kind: 'rows'; readonly row: readonly RowPiece[] }
  /** The only row, or null. */
  | { readonly kind: 'row'; readonly row: readonly RowPiece[] }
  /** A column that is the same in every row. */
  | ({ readonly kind: 'column' } & AnswerColumn)
  /** How many rows came. */
  | { readonly kind: 'count' }
  /** A row came that is not on the page. */
  | { readonly kind: 'has_more' }
  /** A boolean column of the row that was read first; false where there is none. */
  | { readonly kind: 'of_first'; readonly index: number }
  /** The cursor of the first or last row of the page, as it is presented; null without rows. */
  | { readonly kind: 'cursor'; readonly of: 'start' | 'end'; readonly columns: readonly AnswerColumn[] };

/** The whole of it. */
export interface AnswerLayout {
  readonly pieces: readonly AnswerPiece[];
  /** Rows past this number are not on the page; null: all are. */
  readonly limit: LimitPlan | null;
  /** The rows come in reverse. */
  readonly backward: boolean;
  /** A column that is null in a row that stands for no row, and in no other; null: there are none such. */
  readonly marker: number | null;
}

/** An answer of all the rows that come, in their order. */
export function layOutAll(pieces: readonly AnswerPiece[]): AnswerLayout {
  return { pieces, limit: null, backward: false, marker: null };
}
