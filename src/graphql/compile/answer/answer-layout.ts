/**
 * How the rows of a statement become the JSON text of `data`, if the gateway makes it (see print/print-rows.ts). Plain data
 * for json-writer.ts and graphql/execute/answer/rows-answer.ts. The text equals PostgreSQL's byte for byte.
 */
import type { ColumnForm } from '../../model/scalars.ts';
import type { LimitPlan } from '../plan/plan.ts';

/** A column of the statement's rows. */
export interface AnswerColumn {
  /** From 0. */
  readonly index: number;
  readonly form: ColumnForm;
}

/** A piece of a row's JSON: a constant, a column, or a cursor of several columns. */
export type RowPiece =
  | string
  | ({ readonly kind: 'column' } & AnswerColumn)
  | { readonly kind: 'cursor'; readonly columns: readonly AnswerColumn[] };

/** A piece of the answer: of `data`, or of a mutation's field. */
export type AnswerPiece =
  | string
  /** The rows of the page, separated by commas. */
  | { readonly kind: 'rows'; readonly row: readonly RowPiece[] }
  /** The only row, or null. */
  | { readonly kind: 'row'; readonly row: readonly RowPiece[] }
  /** A column with the same value in every row. */
  | ({ readonly kind: 'column' } & AnswerColumn)
  /** The number of received rows, and of those that the command says it has written. */
  | { readonly kind: 'count' | 'written' }
  /** This text if the command says that it has written a row, else null. */
  | { readonly kind: 'if_written'; readonly text: string }
  /** A row beyond the page was received. */
  | { readonly kind: 'has_more' }
  /** A boolean column of the first received row; false without rows. */
  | { readonly kind: 'of_first'; readonly index: number }
  /** The cursor of the page's first or last row, as presented; null without rows. */
  | { readonly kind: 'cursor'; readonly of: 'start' | 'end'; readonly columns: readonly AnswerColumn[] };

/** The whole layout. */
export interface AnswerLayout {
  readonly pieces: readonly AnswerPiece[];
  /** Rows beyond this number are not on the page; null: no limit. */
  readonly limit: LimitPlan | null;
  /** The rows come in reverse. */
  readonly backward: boolean;
  /** A column that is null only in a row that stands for no row; null: there is none. */
  readonly rowPresence: number | null;
}

/** A layout of all received rows, in order. */
export function layOutAll(pieces: readonly AnswerPiece[]): AnswerLayout {
  return { pieces, limit: null, backward: false, rowPresence: null };
}

/** The layout of one row with one column, the JSON. */
export function layOutText(): AnswerLayout {
  return layOutAll([{ kind: 'rows', row: [{ kind: 'column', index: 0, form: 'json' }] }]);
}
