/** Inserts the rows of a file: a look at them first, then batch after batch, and what was refused by row. */
import { useId, useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { Fault } from '../../components/problem.tsx';
import { Rows } from '../../components/rows.tsx';
import { say } from '../../components/toasts.tsx';
import { ApiError } from '../../shared/api.ts';
import { OperationError } from '../../shared/graphql.ts';
import { saveFile } from '../../shared/take-along.ts';
import { AsCaller } from './as-caller.tsx';
import { textOf } from './cell.tsx';
import { toText } from './export-rows.ts';
import { type FileFault, type FileRows, readFileRows } from './read-file.ts';
import type { Row } from './row-key.ts';
import { insertRows, type Target } from './write-operations.ts';

interface ImportDialogProps {
  readonly target: Target;
  readonly onInserted: () => void;
  readonly onClose: () => void;
}

/** Rows of one mutation: all of them or none. */
const batchSize = 100;
/** After so many refused rows, the file is likely the wrong one. */
const maxRefused = 20;
const shownRows = 5;

/** The dialog. */
export function ImportDialog({ target, onInserted, onClose }: ImportDialogProps) {
  const { table } = target;
  const id = useId();
  const [file, setFile] = useState<FileRows | null>(null);
  const [fault, setFault] = useState('');
  const [done, setDone] = useState<number | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [refused, setRefused] = useState<readonly FileFault[]>([]);
  /** What was not inserted: refused, or behind the last that was. */
  const [left, setLeft] = useState<readonly Row[]>([]);
  const read = async (chosen: File): Promise<void> => {
    setRefused([]);
    setLeft([]);
    setDone(null);
    try {
      setFile(readFileRows(table, chosen.name, await chosen.text()));
      setFault('');
    } catch (error) {
      setFile(null);
      setFault((error as Error).message);
    }
  };
  const insert = async ({ objects, places }: FileRows): Promise<void> => {
    const found: FileFault[] = [];
    const others: Row[] = [];
    let count = 0;
    for (let at = 0; at < objects.length; at += batchSize) {
      const batch = objects.slice(at, at + batchSize);
      if (found.length >= maxRefused) {
        others.push(...batch);
        continue;
      }
      const inserted = await tryInsert(target, batch);
      if (inserted === null) count += batch.length;
      else {
        // One of them is the reason: each by itself tells which.
        for (const [index, object] of batch.entries()) {
          const problem = found.length >= maxRefused ? '' : await tryInsert(target, [object]);
          if (problem === null) count += 1;
          else others.push(object);
          if (problem) found.push({ place: places[at + index]!, message: problem });
        }
      }
      setDone(count);
      setRefused([...found]);
    }
    setLeft(others);
    setBusy(false);
    onInserted();
    if (found.length > 0) return;
    say(`Inserted ${rowsOf(count)}.`);
    onClose();
  };
  const problems = [...(file?.faults ?? []), ...refused];
  const names = [...new Set((file?.objects ?? []).slice(0, shownRows).flatMap((row) => Object.keys(row)))];
  return (
    <Dialog title={`Import rows into ${table.name}`} onClose={onClose} isWide>
      <label htmlFor={id}>CSV with a header row, or a JSON list of objects</label>
      <input
        id={id}
        type="file"
        accept=".csv,.json"
        // The same file, once it is mended, is another one.
        onClick={({ currentTarget }) => {
          currentTarget.value = '';
        }}
        onChange={({ target: { files } }) => files?.[0] !== undefined && void read(files[0])}
      />
      <Fault>{fault}</Fault>
      {file !== null && (
        <>
          <p>
            {rowsOf(file.objects.length)} with {names.join(', ')}.
            {file.ignored.length > 0 &&
              ` Left out, because ${table.role} can insert no such column: ${file.ignored.join(', ')}.`}
          </p>
          <Rows label="First rows" columns={names}>
            {file.objects.slice(0, shownRows).map((row, index) => (
              <tr key={file.places[index]}>
                {names.map((name) => (
                  <td key={name}>{name in row ? textOf(row[name]) : ''}</td>
                ))}
              </tr>
            ))}
          </Rows>
        </>
      )}
      <div role="status">{done !== null && `${rowsOf(done)} inserted${isBusy ? ' so far' : ''}.`}</div>
      {problems.length > 0 && (
        <ul className="fault small" role="alert">
          {problems.slice(0, maxRefused).map(({ place, message }) => (
            <li key={`${place} ${message}`}>
              {place}: {message}
            </li>
          ))}
          {problems.length > maxRefused && <li>And {problems.length - maxRefused} more.</li>}
        </ul>
      )}
      <div className="row end">
        <AsCaller target={target} />
        {left.length > 0 && (
          <button type="button" onClick={() => saveFile(`${table.name}-left.csv`, toText(table, left, 'csv'))}>
            Save what is left ({rowsOf(left.length)})
          </button>
        )}
        <button
          type="button"
          className="primary"
          disabled={file === null || file.objects.length === 0 || file.faults.length > 0 || done !== null}
          onClick={() => {
            setDone(0);
            setBusy(true);
            insert(file!).catch((error: unknown) => {
              setBusy(false);
              if (!(error instanceof ApiError)) throw error;
              setFault(`${error.message} The last ${batchSize} rows may be inserted or not.`);
            });
          }}
        >
          Insert {file === null ? 'rows' : rowsOf(file.objects.length)}
        </button>
      </div>
    </Dialog>
  );
}

function rowsOf(count: number): string {
  return `${count.toLocaleString()} ${count === 1 ? 'row' : 'rows'}`;
}

/** What the API says against the rows; null: they are inserted. @throws ApiError without an answer, or for another token */
async function tryInsert(target: Target, objects: readonly Row[]): Promise<string | null> {
  try {
    await insertRows(target, objects);
    return null;
  } catch (error) {
    // Without an answer nobody knows what is inserted: no second try.
    if (error instanceof OperationError && error.status !== 401) return error.message;
    throw error;
  }
}
