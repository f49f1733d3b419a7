/** The last requests by operation: how often, how slow, how many failed. */
import { useMemo } from 'react';
import type { RecentRequest } from '../../../../server/recent/recent-schemas.ts';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { durationText, hasFailed } from '../../shared/recent.ts';
import { nameOf } from './name-of.ts';

interface OperationsTableProps {
  readonly requests: readonly RecentRequest[];
  readonly isNarrow: boolean;
  /** The figure whose highest comes first; another text: the total time. */
  readonly order: string;
  readonly onOrder: (name: string) => void;
  /** Opens the requests of an operation. @param text What finds them. */
  readonly onOpen: (text: string) => void;
}

const figures = ['median', 'p95', 'count', 'failed', 'total'] as const;

type Figure = (typeof figures)[number];

interface OperationRow {
  readonly name: string;
  readonly type: string | null;
  readonly figures: Readonly<Record<Figure, number>>;
  /** What finds its requests. */
  readonly text: string;
}

/** The table. */
export function OperationsTable({ requests, isNarrow, order, onOrder, onOpen }: OperationsTableProps) {
  const by = figures.find((name) => name === order) ?? 'total';
  const columns = useMemo(() => columnsFor(isNarrow, by), [isNarrow, by]);
  const operations = useMemo(() => rowsOf(requests), [requests]);
  const rows = useMemo(
    () => operations.toSorted((one, other) => other.figures[by] - one.figures[by]),
    [operations, by],
  );
  return (
    <DataTable
      label="Operations"
      columns={columns}
      rows={rows}
      keyOf={({ name, type }) => `${name} ${type}`}
      onOrder={({ name }) => onOrder(name)}
      onOpen={({ text }) => onOpen(text)}
      isOpenedByClick
    />
  );
}

function columnsFor(isNarrow: boolean, by: Figure): readonly Column<OperationRow>[] {
  const figure = (name: Figure, title: string, width: number): Column<OperationRow> => ({
    name,
    title,
    width,
    isRight: true,
    order: name === by ? 'descending' : null,
    cell: (row) => figureCell(name, row.figures[name]),
  });
  return [
    {
      name: 'operation',
      title: 'Operation',
      width: isNarrow ? 180 : 300,
      isWide: true,
      isRowHeader: true,
      cell: ({ name, type }) => (
        <>
          {name} <span className="soft small">{type}</span>
        </>
      ),
    },
    figure('median', 'Median', 104),
    figure('p95', 'p95', 92),
    figure('count', 'Requests', 112),
    figure('failed', 'Failed', 96),
    figure('total', 'Total time', 120),
  ];
}

function figureCell(name: Figure, value: number) {
  if (name === 'count') return value.toLocaleString();
  if (name !== 'failed') return durationText(value);
  return <span className={value === 0 ? 'soft' : 'fault'}>{value.toLocaleString()}</span>;
}

function rowsOf(requests: readonly RecentRequest[]): readonly OperationRow[] {
  const same = Map.groupBy(requests, (request) => `${nameOf(request)} ${request.operationType}`);
  return [...same.values()].map(toRow);
}

function toRow(all: readonly RecentRequest[]): OperationRow {
  const times = all.map(({ ms }) => ms).sort((one, other) => one - other);
  const at = (part: number): number => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;
  const first = all[0]!;
  return {
    name: nameOf(first),
    type: first.operationType,
    figures: {
      median: at(0.5),
      p95: at(0.95),
      count: all.length,
      failed: all.filter(hasFailed).length,
      total: times.reduce((sum, ms) => sum + ms, 0),
    },
    text: first.operation ?? first.path ?? '',
  };
}
