/** The related rows that are there, to be changed or deleted with the row that they belong to. */
import { Link } from '../../components/link.tsx';
import type { Caller } from '../../shared/caller.ts';
import { runAs } from '../../shared/graphql.ts';
import { useAnswer } from '../../shared/requests.ts';
import { type RoleTable, readRoleTable, type TableLink } from '../../shared/role-schema.ts';
import { rowText } from './cell.tsx';
import { type Condition, type DataPlace, placeOfTable } from './data-place.ts';
import { pageOperation } from './read-operations.ts';
import type { PlacedDraft } from './row-draft.ts';
import { keyOf, type Row } from './row-key.ts';
import type { RowPage } from './use-rows.ts';

/** So many rows are shown to be changed here; all of them are in their table. */
const shownRows = 10;

interface RelatedListProps {
  readonly role: string;
  readonly link: TableLink;
  readonly conditions: readonly Condition[];
  readonly rows: readonly PlacedDraft[];
  readonly place: DataPlace;
  /** Another value after each save: the rows are read again. */
  readonly saved: number;
  readonly onWrite: (table: RoleTable, before: Row, isDeleted?: boolean) => void;
  readonly onKeep: (id: number) => void;
}

/** The rows, each with what can be done with it here. */
export function RelatedList({ role, link, conditions, rows, place, saved, onWrite, onKeep }: RelatedListProps) {
  const { caller } = place;
  const key = JSON.stringify([role, link.target, caller, conditions, saved]);
  const { value, problem } = useAnswer(key, (signal) => readRelated(role, link.target, caller, conditions, signal));
  if (value === null) return <p className="soft small">{problem?.message ?? `Loading ${link.name} …`}</p>;
  const { table, page } = value;
  const foreign = link.pairs.map((pair) => pair.foreign);
  if (page.edges.length === 0) return <p className="soft small">None yet.</p>;
  return (
    <ul className="related-list small">
      {page.edges.map(({ node }) => {
        const rowKey = keyOf(table, node);
        const written = rows.find(({ draft: { before } }) => before !== null && keyOf(table, before) === rowKey);
        return (
          <li key={rowKey} className="spread">
            <Link
              className={written?.isDeleted ? 'deleted' : undefined}
              to={placeOfTable(place, table.name, { row: rowKey })}
            >
              {rowText(table, node, foreign) || decodeURIComponent(rowKey)}
            </Link>
            <span className="row">
              {written === undefined && link.updates.includes('update') && (
                <button type="button" className="quiet mini" onClick={() => onWrite(table, node)}>
                  Edit <span className="visually-hidden">{rowKey}</span>
                </button>
              )}
              {written === undefined && link.updates.includes('delete') && (
                <button type="button" className="quiet mini" onClick={() => onWrite(table, node, true)}>
                  Delete <span className="visually-hidden">{rowKey}</span>
                </button>
              )}
              {written?.isDeleted && (
                <button type="button" className="quiet mini" onClick={() => onKeep(written.id)}>
                  Keep <span className="visually-hidden">{rowKey}</span>
                </button>
              )}
            </span>
          </li>
        );
      })}
      {page.pageInfo.hasNextPage && <li className="soft">The first {shownRows}; all of them are in their table.</li>}
    </ul>
  );
}

async function readRelated(
  role: string,
  name: string,
  caller: Caller,
  filter: readonly Condition[],
  signal: AbortSignal,
): Promise<{ readonly table: RoleTable; readonly page: RowPage }> {
  const table = await readRoleTable(role, name, signal);
  const operation = pageOperation(table, { order: null, filter }, { first: Math.min(shownRows, table.maxRows) });
  const data = await runAs<Readonly<Record<string, RowPage>>>(caller, operation, signal);
  return { table, page: data[table.collection!]! };
}
