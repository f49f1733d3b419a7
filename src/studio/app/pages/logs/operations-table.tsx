/** The last requests by operation: how often, how slow, how many failed. */
import { useMemo } from 'react';
import type { RecentRequest } from '../../../../server/recent/recent-schemas.ts';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { durationText, hasFailed } from '../../shared/recent.ts';
import { nameOf } from './name-of.ts';

interface OperationsTableProps {
  readonly requests: readonly RecentRequest[];
  readonly isNarrow: boolean;
  /** Opens the requests of an operation. @param text What finds them. */
  readonly onOpen: (text: string) => void;
}

interface OperationRow {
  readonly name: string;
  readonly type: string | null;
  readonly count: number;
  readonly failed: number;
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly totalMs: number;
  /** What finds its requests. */
  readonly text: string;
}

/** The table; those that took most time together come first. */
export function OperationsTable({ requests, isNarrow, onOpen }: OperationsTableProps) {
  const columns = useMemo(() => columnsFor(isNarrow), [isNarrow]);
  const rows = useMemo(() => rowsOf(requests), [requests]);
  return (
    <DataTable
      label="Operations"
      columns={columns}
      rows={rows}
      keyOf={({ name, type }) => `${name} ${type}`}
      onOpen={({ text }) => onOpen(text)}
      isOpenedByClick
    />
  );
}

const columnsFor = (isNarrow: boolean): readonly Column<OperationRow>[] => [
  {
    name: 'operation',
    title: 'Operation',
    width: isNarrow ? 150 : 300,
    isRowHeader: true,
    cell: ({ name, type }) => (
      <>
        {name} <span className="soft small">{type}</span>
      </>
    ),
  },
  { name: 'median', title: 'Median', width: 92, isRight: true, cell: ({ medianMs }) => durationText(medianMs) },
  { name: 'p95', title: 'p95', width: 92, isRight: true, cell: ({ p95Ms }) => durationText(p95Ms) },
  { name: 'count', title: 'Requests', width: 96, isRight: true, cell: ({ count }) => count.toLocaleString() },
  {
    name: 'failed',
    title: 'Failed',
    width: 82,
    isRight: true,
    cell: ({ failed }) => (failed === 0 ? <span className="soft">0</span> : <span className="fault">{failed}</span>),
  },
  { name: 'total', title: 'Total time', width: 104, cell: ({ totalMs }) => durationText(totalMs) },
];

function rowsOf(requests: readonly RecentRequest[]): readonly OperationRow[] {
  const same = Map.groupBy(requests, (request) => `${nameOf(request)} ${request.operationType}`);
  return [...same.values()].map(toRow).sort((one, other) => other.totalMs - one.totalMs);
}

function toRow(all: readonly RecentRequest[]): OperationRow {
  const times = all.map(({ ms }) => ms).sort((one, other) => one - other);
  const at = (part: number): number => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;
  const first = all[0]!;
  return {
    name: nameOf(first),
    type: first.operationType,
    count: all.length,
    failed: all.filter(hasFailed).length,
    medianMs: at(0.5),
    p95Ms: at(0.95),
    totalMs: times.reduce((sum, ms) => sum + ms, 0),
    text: first.operation ?? first.path ?? '',
  };
}
