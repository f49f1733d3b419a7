/** What was typed into the form of a row and of the rows that are related to it, and the input that it makes. */
import type { RoleTable, TableColumn, TableLink } from '../../shared/role-schema.ts';
import { type FieldText, faultOf, toFieldText, toValue } from './field-text.ts';
import { selectionOf } from './read-operations.ts';
import { filterOfKey, filterOfValues, keyOf, type Row } from './row-key.ts';
import type { RowPage } from './use-rows.ts';
import type { Check } from './write-operations.ts';

/** A row with what was typed. */
export interface RowDraft {
  readonly table: RoleTable;
  /** As it was read; null for a new one. */
  readonly before: Row | null;
  readonly texts: Readonly<Record<string, FieldText | undefined>>;
  /** By the names of relationships. */
  readonly related: Readonly<Record<string, readonly RelatedDraft[]>>;
}

/** A related row that is inserted, changed or deleted with the row. */
export interface RelatedDraft {
  /** Of this visit. */
  readonly id: number;
  readonly isDeleted: boolean;
  readonly draft: RowDraft;
}

/** The way a related row is written, as the API names it; `none`: nothing was changed yet. */
type WriteKind = 'insert' | 'update' | 'delete' | 'none';

/** A related row with the place of its input, as errors of the API name it: `objects[0].lines.insert[1]`. */
export interface PlacedDraft extends RelatedDraft {
  readonly kind: WriteKind;
  readonly place: string;
  /** `New OrderLine 2`, with the number where there are several. */
  readonly title: string;
}

/** A draft without a change. */
export function draftOf(table: RoleTable, before: Row | null): RowDraft {
  return { table, before, texts: {}, related: {} };
}

/** The place of a row that is saved by itself. */
export function placeOfDraft({ before }: RowDraft): string {
  return before === null ? 'objects[0]' : 'set';
}

/** The text that a field begins with; undefined: nothing is given. */
export function startOf({ before }: RowDraft, { name, type }: TableColumn): FieldText | undefined {
  return before === null ? undefined : toFieldText(before[name], type);
}

/** The columns that are written. */
export function changedOf(draft: RowDraft): readonly TableColumn[] {
  const set = setByLinks(draft);
  return draft.table.columns.filter(
    (column) =>
      column.name in draft.texts && !set.has(column.name) && draft.texts[column.name] !== startOf(draft, column),
  );
}

/** Columns of the row that related rows set: the foreign key of one that is inserted first. */
function setByLinks({ table, related }: RowDraft): ReadonlySet<string> {
  const links = table.relationships.filter(({ name, isForeignKey }) => isForeignKey && related[name]?.length);
  return new Set(links.flatMap(({ pairs }) => pairs.map(({ local }) => local)));
}

/** The same, and what the row that it is written with sets: its key. @param owner Null: it is written by itself. */
export function setColumns(draft: RowDraft, owner: TableLink | null): ReadonlySet<string> {
  const ofOwner = owner === null || owner.isForeignKey ? [] : owner.pairs.map(({ foreign }) => foreign);
  return new Set([...setByLinks(draft), ...ofOwner]);
}

/** Whether the relationship of a related row leads back to the row that it belongs to. */
export function isReverse(link: TableLink, owner: TableLink): boolean {
  if (link.isForeignKey === owner.isForeignKey || link.pairs.length !== owner.pairs.length) return false;
  return link.pairs.every(({ local, foreign }) =>
    owner.pairs.some((pair) => pair.local === foreign && pair.foreign === local),
  );
}

/** Whether saving would change something. */
export function isDirty(draft: RowDraft): boolean {
  return changedOf(draft).length > 0 || countRelated(draft) > 0;
}

/** Whether a text has a fault, in this row or a related one. */
export function isFaulty(draft: RowDraft): boolean {
  const hasFault = changedOf(draft).some(({ name, type }) => faultOf(draft.texts[name] ?? null, type) !== null);
  return (
    hasFault || Object.values(draft.related).some((rows) => rows.some((row) => !row.isDeleted && isFaulty(row.draft)))
  );
}

/** How many related rows are written, at any depth. */
export function countRelated({ related }: RowDraft): number {
  const rows = Object.values(related).flat();
  return rows.reduce((sum, row) => sum + (kindOf(row) === 'none' ? 0 : 1) + countRelated(row.draft), 0);
}

function kindOf({ isDeleted, draft }: RelatedDraft): WriteKind {
  if (isDeleted) return 'delete';
  return draft.before === null ? 'insert' : isDirty(draft) ? 'update' : 'none';
}

/** The related rows of a relationship with their places. */
export function placed(draft: RowDraft, { name, isList }: TableLink, place: string): readonly PlacedDraft[] {
  const counts = { insert: 0, update: 0, delete: 0, none: 0 };
  const rows = draft.related[name] ?? [];
  const hasSeveral = rows.filter((row) => kindOf(row) === 'insert').length > 1;
  return rows.map((row) => {
    const kind = kindOf(row);
    const index = counts[kind]++;
    const { table, before } = row.draft;
    const title =
      before === null
        ? `New ${table.name}${hasSeveral ? ` ${index + 1}` : ''}`
        : `${table.name} ${keyOf(table, before)}`;
    return { ...row, kind, place: `${place}.${name}.${kind}${isList ? `[${index}]` : ''}`, title };
  });
}

/**
 * The row of which an error speaks, or the relationship if it does not tell which row: the longest place that fits alone.
 *
 * @param input As the API names it, with `[*]` where it does not know the number: `$objects[0].lines.insert[*].amount`.
 */
export function placeOfFault(draft: RowDraft, input: string): string {
  const own = placeOfDraft(draft);
  const given = stepsOf(input);
  const fits = (place: string): boolean =>
    stepsOf(place).every((step, index) => step === given[index] || (given[index] === '*' && /^\d+$/.test(step)));
  const shapeOf = (place: string): string => place.replace(/(?<!\d)\d+\]/g, '*]');
  const fitting = placesIn(draft, own).filter(fits);
  const alone = fitting.filter((place) => fitting.filter((other) => shapeOf(other) === shapeOf(place)).length === 1);
  return alone.reduce((longest, place) => (place.length > longest.length ? place : longest), own);
}

/** `$objects[0].lines` as `objects`, `0`, `lines`. */
function stepsOf(place: string): readonly string[] {
  return place.split(/[$.[\]]+/).filter((step) => step !== '');
}

function placesIn(draft: RowDraft, place: string): readonly string[] {
  return draft.table.relationships.flatMap((link) => {
    const rows = placed(draft, link, place);
    if (rows.length === 0) return [];
    return [`${place}.${link.name}`, ...rows.flatMap((row) => [row.place, ...placesIn(row.draft, row.place)])];
  });
}

/** The object of an insert, or the `set` of an update. */
export function toInput(draft: RowDraft): Row {
  const { table, texts } = draft;
  const values = changedOf(draft).map((column) => [
    column.name,
    toValue(texts[column.name] ?? null, column, table.jsonValues),
  ]);
  const related = table.relationships.flatMap((link) => {
    const rows = placed(draft, link, '').filter(({ kind }) => kind !== 'none');
    return rows.length === 0 ? [] : [[link.name, writesOf(link, rows)]];
  });
  return Object.fromEntries([...values, ...related]);
}

function writesOf({ isList }: TableLink, rows: readonly PlacedDraft[]): Row {
  if (!isList) return { insert: toInput(rows[0]!.draft) };
  const of = (kind: WriteKind): readonly RowDraft[] => rows.filter((row) => row.kind === kind).map((row) => row.draft);
  const inputs = {
    insert: of('insert').map(toInput),
    update: of('update').map((draft) => ({ set: toInput(draft), filter: seenFilter(draft) })),
    delete: of('delete').map(({ table, before }) => ({ filter: filterOfKey(table, keyOf(table, before!)) })),
  };
  return Object.fromEntries(Object.entries(inputs).filter(([, entries]) => entries.length > 0));
}

/** The row while the columns that change have the values that were seen. */
function seenFilter(draft: RowDraft): Row {
  return filterOfValues(draft.table, draft.before!, changedOf(draft), draft.before!);
}

/** What tells whether related rows were written: those found by it are changed, or not deleted. */
export function checksOf(draft: RowDraft): readonly Check[] {
  return draft.table.relationships.flatMap((link, index) => {
    const rows = placed(draft, link, '').filter(isOfThere);
    if (rows.length === 0) return [];
    const { table } = rows[0]!.draft;
    return {
      field: `related${index}`,
      relationship: link.name,
      target: link.target,
      filter: { or: rows.map(({ draft: one }) => writtenFilter(one)) },
      first: rows.length,
      selection: selectionOf(table),
    };
  });
}

/** Whether a row that is there is written. */
function isOfThere({ kind }: PlacedDraft): boolean {
  return kind === 'update' || kind === 'delete';
}

/** Nothing but the related rows that stayed as they were: changed meanwhile, or refused by a policy. */
export function unwrittenOf(draft: RowDraft, answer: Row): RowDraft['related'] {
  const left = draft.table.relationships.map((link, index) => {
    const found = answer[`related${index}`] as RowPage | undefined;
    const [
      {
        draft: { table },
      } = { draft },
    ] = draft.related[link.name] ?? [];
    const keys = new Set(found?.edges.map(({ node }) => keyOf(table, node)));
    const rows = placed(draft, link, '').filter((row) => {
      const key = isOfThere(row) && keyOf(row.draft.table, { ...row.draft.before, ...toInput(row.draft) });
      return key !== false && keys.has(key) === row.isDeleted;
    });
    return [link.name, rows] as const;
  });
  return Object.fromEntries(left.filter(([, rows]) => rows.length > 0));
}

/** The row with the values that it was given; the row itself if it was deleted. */
function writtenFilter(draft: RowDraft): Row {
  const input = toInput(draft);
  return filterOfValues(draft.table, { ...draft.before, ...input }, changedOf(draft), input);
}
