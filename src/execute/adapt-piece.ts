/**
 * Adapts the layout of a row to columns that have another type than the model knew (graphql.md 1.9: without the trigger a
 * model may be older than a column).
 */
import type { ColumnForm } from '../compile/answer-layout.ts';
import type { RowPart } from './json-writer.ts';

/** Oids of types whose text is JSON, or is where it is a number, or never needs escapes. */
const jsonTypes: ReadonlySet<number> = new Set([20, 21, 23, 114, 3802]);
const numberTypes: ReadonlySet<number> = new Set([700, 701, 1700]);
const unescapedTypes: ReadonlySet<number> = new Set([20, 1083, 1700, 2950]);
const booleanType = 16;

/** The same piece where its columns have a type that their forms are right for; else by the types that they have. */
export function adaptPiece(piece: RowPart, types: readonly number[]): RowPart {
  if (piece.kind === 'constant') return piece;
  if (piece.kind === 'column') {
    const form = adaptForm(piece.form, types[piece.index]);
    return form === piece.form ? piece : { ...piece, form };
  }
  const columns = piece.columns.map((column) => ({ ...column, form: adaptForm(column.form, types[column.index]) }));
  return columns.every(({ form }, index) => form === piece.columns[index]?.form) ? piece : { ...piece, columns };
}

/** Until the change of a column is in the model, its values travel as `to_json` would make them. */
function adaptForm(form: ColumnForm, type = 0): ColumnForm {
  const own: ColumnForm =
    type === booleanType ? 'boolean' : jsonTypes.has(type) ? 'json' : numberTypes.has(type) ? 'number' : 'text';
  return form === 'quoted' && unescapedTypes.has(type) ? form : own;
}
