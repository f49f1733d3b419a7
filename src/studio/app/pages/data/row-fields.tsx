/** The fields of a row, and of the rows that are written with it. */
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Link } from '../../components/link.tsx';
import { Fault } from '../../components/problem.tsx';
import type { ApiError } from '../../shared/api.ts';
import { useTask } from '../../shared/requests.ts';
import {
  listField,
  type RoleSchema,
  type RoleTable,
  readRoleTable,
  type TableColumn,
  type TableLink,
} from '../../shared/role-schema.ts';
import type { CellOpening, DataPlace } from './data-place.ts';
import type { Lack } from './lacks.ts';
import { numberOf } from './line-number.ts';
import { placeOfRelated, relatedConditions } from './links.ts';
import { Refusal } from './refusal.tsx';
import { RelatedList } from './related-list.tsx';
import {
  changedOf,
  draftOf,
  isReverse,
  type PlacedDraft,
  placed,
  placeOfDraft,
  type RelatedDraft,
  type RowDraft,
  setColumns,
  startOf,
} from './row-draft.ts';
import type { Row } from './row-key.ts';
import { RowSelect } from './row-select.tsx';
import { ValueEditor } from './value-editor.tsx';

/** What the fields need of the page. */
interface FieldsContext {
  readonly schema: RoleSchema;
  readonly place: DataPlace;
  /** What the API said, and of which place. */
  readonly refused: { readonly place: string; readonly problem: ApiError } | null;
  /** What was missing when the form was about to be sent, and still is; null: it was not. */
  readonly lacks: readonly Lack[] | null;
  /** Another value after each save: rows are read again. */
  readonly saved: number;
  /** Relationships of which rows were just inserted with the row: they are shown. */
  readonly made: readonly string[];
}

/** How a draft changes. */
type ChangeDraft = (change: (draft: RowDraft) => RowDraft) => void;

interface RowFieldsProps {
  readonly draft: RowDraft;
  readonly onChange: ChangeDraft;
  /** Of its input, as errors of the API name it. */
  readonly place: string;
  /** The relationship by which the row is written with another; null: it is written by itself. */
  readonly owner?: TableLink | null;
  /** The field that gets the keyboard; null: none. */
  readonly opening: CellOpening | null;
  readonly context: FieldsContext;
}

/** The fields. */
export function RowFields({ draft, onChange, place, owner = null, opening, context }: RowFieldsProps) {
  const { table, before, texts } = draft;
  const isNew = before === null;
  const set = setColumns(draft, owner);
  const missing = context.lacks?.find((lack) => lack.place === place)?.missing ?? [];
  const changed = changedOf(draft);
  const columns = table.columns.filter(
    ({ name, insert, isRead }) => !set.has(name) && (isNew ? insert !== null : isRead),
  );
  const generated = isNew ? table.columns.filter(({ name, insert }) => insert === null && !set.has(name)) : [];
  const links = table.relationships.filter((link) => owner === null || (isNew && !isReverse(link, owner)));
  const type = (name: string, text: RowDraft['texts'][string]): void =>
    onChange((now) => {
      const { [name]: _, ...others } = now.texts;
      return { ...now, texts: text === undefined ? others : { ...others, [name]: text } };
    });
  const textOf = (column: TableColumn) => (column.name in texts ? texts[column.name] : startOf(draft, column));
  const { tables } = context.schema;
  const finderOf = (name: string): ReactNode => {
    const link = links.find(({ isForeignKey, pairs }) => isForeignKey && pairs[0]?.local === name);
    const target = tables.find((each) => each.name === link?.target);
    if (link === undefined || listField(target) === null) return null;
    return <RowSelect {...{ link, table, textOf }} caller={context.place.caller} onType={type} />;
  };
  return (
    <>
      {columns.map((column) => (
        <ValueEditor
          key={column.name}
          table={table}
          column={column}
          text={textOf(column)}
          isReadOnly={!isNew && (table.update === null || column.update === null)}
          isChanged={changed.includes(column)}
          isNew={isNew}
          isMissing={missing.includes(column.name)}
          focus={opening?.column === column.name ? opening : null}
          onChange={(text) => type(column.name, text)}
          finder={finderOf(column.name)}
        />
      ))}
      {generated.length > 0 && (
        <p className="soft small">Made by the database: {generated.map(({ name }) => name).join(', ')}.</p>
      )}
      <RelatedRows {...{ draft, links, onChange, place, context }} isInside={owner !== null} />
    </>
  );
}

interface RelatedRowsProps {
  readonly draft: RowDraft;
  readonly links: readonly TableLink[];
  readonly onChange: ChangeDraft;
  /** Of the input of the row. */
  readonly place: string;
  readonly context: FieldsContext;
  /** The row is written with another one. */
  readonly isInside: boolean;
}

/** All relationships of a row. */
function RelatedRows({ draft, links, isInside, ...others }: RelatedRowsProps) {
  const { before } = draft;
  const shown = links.flatMap((link) => {
    const to =
      before === null || isInside
        ? null
        : placeOfRelated(link, others.context.schema.tables, before, others.context.place);
    const isAdding = (before === null ? link.inserts : link.updates).some((write) => write === 'insert');
    return to === null && !isAdding ? [] : [{ link, to, isAdding }];
  });
  if (shown.length === 0) return null;
  return (
    <section aria-label="Related rows" className="related">
      {!isInside && <h3>Related rows</h3>}
      {shown.map(({ link, to, isAdding }) => (
        <Relationship key={link.name} {...{ draft, link, to, isAdding }} {...others} />
      ))}
    </section>
  );
}

interface RelationshipProps extends Omit<RelatedRowsProps, 'links' | 'isInside'> {
  readonly link: TableLink;
  /** Where the related rows are; null: nowhere yet. */
  readonly to: string | null;
  readonly isAdding: boolean;
}

let lastId = 0;

function Relationship({ draft, link, to, isAdding, onChange, place, context }: RelationshipProps) {
  const { name, target, isList, updates } = link;
  const { problem, isBusy, run } = useTask();
  const [isOpen, setOpen] = useState(place === placeOfDraft(draft) && context.made.includes(name));
  const rows = placed(draft, link, place);
  const hasNew = rows.some(({ kind }) => kind === 'insert');
  const hadNew = useRef(false);
  // What was inserted is shown where it is now.
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each save
  useEffect(() => {
    if (hadNew.current) setOpen(true);
  }, [context.saved]);
  useEffect(() => {
    hadNew.current = hasNew;
  }, [hasNew]);
  const conditions = draft.before && relatedConditions(link, context.schema.tables, draft.before);
  const isListed = to !== null && isList && conditions !== null;
  const isEdited = updates.some((write) => /^(update|delete)$/.test(write));
  const change = (make: (rows: readonly RelatedDraft[]) => readonly RelatedDraft[]): void =>
    onChange((now) => ({ ...now, related: { ...now.related, [name]: make(now.related[name] ?? []) } }));
  const add = (table: RoleTable, before: Row | null, isDeleted = false): void =>
    change((now) => {
      const drafted = draftOf(table, before);
      // Of an owner that is there, nobody knows which numbers are taken.
      const isNumbered = before === null && draft.before === null && !link.isForeignKey;
      const others = now.map((row) => row.draft);
      const texts = isNumbered ? numberOf(table, link, others) : {};
      return [...now, { id: ++lastId, isDeleted, draft: { ...drafted, texts } }];
    });
  const drop = (id: number): void => change((now) => now.filter((row) => row.id !== id));
  const { refused } = context;
  const chosen = rows.length === 0 ? chosenBy(draft, link) : null;
  const adder = isAdding && chosen === null && (isList || rows.length === 0) && (
    <button
      type="button"
      className="mini"
      disabled={isBusy}
      onClick={() => void run(async () => add(await readRoleTable(draft.table.role, target), null))}
    >
      {link.isForeignKey ? 'New' : hasNew ? 'Add another' : 'Add'}{' '}
      <span className="visually-hidden">
        {link.isForeignKey || hasNew ? '' : 'a '}related {target} in {name}
      </span>
    </button>
  );
  return (
    <div className="relationship">
      <div className="spread">
        <span>
          {to === null ? name : <Link to={to}>{name}</Link>} <small className="soft">{target}</small>
        </span>
        <span className="row">
          {isAdding && chosen !== null && <small className="soft">{chosen} is chosen</small>}
          {isListed && (
            <button type="button" className="quiet mini" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              {isOpen ? 'Hide' : isEdited ? 'Edit' : 'Show'} <span className="visually-hidden">{name}</span>
            </button>
          )}
          {rows.length === 0 && adder}
        </span>
      </div>
      <Fault>{problem?.message}</Fault>
      {refused?.place === `${place}.${name}` && <Refusal problem={refused.problem} isHere />}
      {isOpen && isListed && (
        <RelatedList
          {...{ link, conditions, rows }}
          role={draft.table.role}
          place={context.place}
          saved={context.saved}
          onWrite={add}
          onKeep={drop}
        />
      )}
      {rows
        .filter(({ kind }) => kind !== 'delete')
        .map((row) => (
          <RelatedRow
            key={row.id}
            {...{ row, link, context }}
            onChange={(make) =>
              change((now) => now.map((one) => (one.id === row.id ? { ...one, draft: make(one.draft) } : one)))
            }
            onDrop={() => drop(row.id)}
          />
        ))}
      {rows.length > 0 && adder}
    </div>
  );
}

/** The row that a foreign key names by now, which rules out a new one: `customerId 7`. */
function chosenBy({ texts }: RowDraft, { isForeignKey, pairs }: TableLink): string | null {
  const given = pairs.map(({ local }) => [local, texts[local] ?? ''] as const);
  if (!isForeignKey || given.length === 0 || given.some(([, text]) => text === '')) return null;
  return given.map((pair) => pair.join(' ')).join(', ');
}

interface RelatedRowProps {
  readonly row: PlacedDraft;
  readonly link: TableLink;
  readonly context: FieldsContext;
  readonly onChange: ChangeDraft;
  readonly onDrop: () => void;
}

/** The form of one; its first field gets the keyboard. */
function RelatedRow({ row: { draft, place, kind, title }, link, context, onChange, onDrop }: RelatedRowProps) {
  const { table, before } = draft;
  const id = useId();
  const [opening] = useState(() => {
    const foreign = link.isForeignKey ? [] : link.pairs.map((pair) => pair.foreign);
    const first = table.columns.find(
      ({ name, insert, update }) =>
        (before === null ? insert : update) !== null && !foreign.includes(name) && !(name in draft.texts),
    );
    return { column: first?.name ?? '', typed: null };
  });
  const { refused, lacks } = context;
  const twin = lacks?.find((lack) => lack.place === place)?.twin;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot have its title beside a button
    <div role="group" className="related-row" aria-labelledby={id}>
      <div className="spread">
        <strong id={id}>{title}</strong>
        <button type="button" className="quiet mini" onClick={onDrop}>
          {kind === 'insert' ? 'Remove' : kind === 'update' ? 'Discard' : 'Close'}
        </button>
      </div>
      {refused?.place === place && <Refusal problem={refused.problem} isHere />}
      {twin != null && <Fault>{`The same ${twin.columns} as ${twin.title}.`}</Fault>}
      <RowFields {...{ draft, onChange, place, opening, context }} owner={link} />
    </div>
  );
}
