/**
 * What the rows of a form lack before it is sent, in the names of the form. PostgreSQL would say it of a column of the
 * database, and of one row of several not which. Triggers may give what is missing, so it is no reason to refuse.
 */
import type { TableColumn, TableLink } from '../../shared/role-schema.ts';
import { type PlacedDraft, placed, placeOfDraft, type RowDraft, setColumns } from './row-draft.ts';

/** A row that lacks something. */
export interface Lack {
  readonly place: string;
  /** Null: the row that the form is for. */
  readonly title: string | null;
  /** Fields that need a value. */
  readonly missing: readonly string[];
  /** The row before it with the same key, and the columns of that; null: none. */
  readonly twin: { readonly title: string; readonly columns: string } | null;
}

/** Whether a new row needs a value of the column. */
export function isRequired({ type, insert, hasDefault }: TableColumn): boolean {
  return insert !== null && type.endsWith('!') && !hasDefault;
}

/** All rows of the form that lack something. */
export function lacksOf(draft: RowDraft): readonly Lack[] {
  const place = placeOfDraft(draft);
  return [...lackOf({ draft, place, title: null }, null, null), ...lacksOfRelated(draft, place)];
}

function lacksOfRelated(draft: RowDraft, place: string): readonly Lack[] {
  return draft.table.relationships.flatMap((link) => {
    const rows = placed(draft, link, place).filter(({ kind }) => kind === 'insert' || kind === 'update');
    const news = rows.filter(({ kind }) => kind === 'insert');
    return rows.flatMap((row) => [
      ...lackOf(row, link, row.kind === 'insert' ? twinOf(row, news, link) : null),
      ...lacksOfRelated(row.draft, row.place),
    ]);
  });
}

function lackOf(
  { draft, place, title }: { readonly draft: RowDraft; readonly place: string; readonly title: string | null },
  owner: TableLink | null,
  twin: Lack['twin'],
): readonly Lack[] {
  const set = setColumns(draft, owner);
  const required = draft.before === null ? draft.table.columns.filter(isRequired) : [];
  const missing = required.flatMap(({ name }) => (draft.texts[name] === undefined && !set.has(name) ? [name] : []));
  return missing.length > 0 || twin !== null ? [{ place, title, missing, twin }] : [];
}

function twinOf(row: PlacedDraft, rows: readonly PlacedDraft[], owner: TableLink): Lack['twin'] {
  const set = setColumns(row.draft, owner);
  const key = row.draft.table.columns.filter(({ name, isKey }) => isKey && !set.has(name)).map(({ name }) => name);
  const keyOf = ({ draft: { texts } }: PlacedDraft): string | null =>
    key.every((name) => typeof texts[name] === 'string') ? JSON.stringify(key.map((name) => texts[name])) : null;
  const own = keyOf(row);
  if (key.length === 0 || own === null) return null;
  const twin = rows.slice(0, rows.indexOf(row)).find((other) => keyOf(other) === own);
  return twin === undefined ? null : { title: twin.title, columns: key.join(', ') };
}

/** Of all rows, for the end of the form. */
export function describeLacks(lacks: readonly Lack[]): string {
  const rows = lacks.map(({ title, missing, twin }) => {
    const what = [
      ...(missing.length > 0 ? [`${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} required`] : []),
      ...(twin === null ? [] : [`the same ${twin.columns} as ${twin.title}`]),
    ].join(', ');
    return title === null ? what : `${title}: ${what}`;
  });
  return `${rows.join('; ')}.`;
}
