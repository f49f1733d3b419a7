/** What else can be done with a view: copied as a program, saved as a file, or filled from one. */
import { useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { Menu } from '../../components/menu.tsx';
import { say } from '../../components/toasts.tsx';
import { type ClientName, codeOf } from '../../shared/client-code.ts';
import { apiKeys } from '../../shared/keys.ts';
import { useAnswer } from '../../shared/requests.ts';
import type { RoleTable } from '../../shared/role-schema.ts';
import { useStore } from '../../shared/store.ts';
import { copyText, saveFile } from '../../shared/take-along.ts';
import type { DataPlace } from './data-place.ts';
import { type ExportFormat, exportLimit, readAllRows, toText } from './export-rows.ts';
import { ImportDialog } from './import-dialog.tsx';
import type { Row } from './row-key.ts';
import type { Rows } from './use-rows.ts';
import { viewQuery } from './view-query.ts';

interface MoreMenuProps {
  readonly table: RoleTable;
  readonly place: DataPlace;
  readonly rows: Rows;
  readonly chosen: readonly Row[];
}

/** Copies a text, and says so. */
async function copy(text: string, what: string): Promise<void> {
  say((await copyText(text)) ? `Copied ${what}.` : 'The browser does not let this page copy.');
}

/** The menu. */
export function MoreMenu({ table, place, rows, chosen }: MoreMenuProps) {
  const { anon } = useStore(apiKeys);
  const [exporting, setExporting] = useState<ExportFormat | null>(null);
  const [isImporting, setImporting] = useState(false);
  const query = (): string => viewQuery(table, place);
  const program = (client: ClientName): void => {
    const { kind } = place.caller;
    const caller = kind === 'authenticated' ? 'user' : kind;
    const call = { url: location.origin, anonKey: anon, caller, query: query() } as const;
    void copy(codeOf(client, call), `the view for ${client}`);
  };
  const isChosen = chosen.length > 0;
  const copied = isChosen ? chosen : rows.rows;
  const saved = isChosen ? `${chosen.length} chosen` : place.filter.length > 0 ? 'all that match' : 'all rows';
  const save = (format: ExportFormat): void => {
    if (isChosen) saveFile(`${table.name}.${format}`, toText(table, chosen, format));
    else setExporting(format);
  };
  return (
    <>
      <Menu
        label="More"
        groups={[
          [
            { title: 'Copy as GraphQL', run: () => void copy(query(), 'the view as GraphQL') },
            { title: 'Copy as curl', run: () => program('curl') },
            { title: 'Copy for supabase-js', run: () => program('supabase-js') },
          ],
          [
            {
              title: `Copy as JSON (${copied.length.toLocaleString()} ${isChosen ? 'chosen' : 'loaded'})`,
              run: () => void copy(toText(table, copied, 'json'), 'the rows as JSON'),
            },
            { title: `Save as CSV (${saved})`, run: () => save('csv') },
            { title: `Save as JSON (${saved})`, run: () => save('json') },
          ],
          ...(table.insert === null ? [] : [[{ title: 'Import CSV or JSON …', run: () => setImporting(true) }]]),
        ]}
      />
      {isImporting && (
        <ImportDialog
          target={{ table, caller: place.caller }}
          onInserted={rows.readAgain}
          onClose={() => setImporting(false)}
        />
      )}
      {exporting !== null && (
        <ExportDialog table={table} place={place} format={exporting} onClose={() => setExporting(null)} />
      )}
    </>
  );
}

interface ExportDialogProps {
  readonly table: RoleTable;
  readonly place: DataPlace;
  readonly format: ExportFormat;
  readonly onClose: () => void;
}

/** Reads all rows; closing it ends that. */
function ExportDialog({ table, place, format, onClose }: ExportDialogProps) {
  const [count, setCount] = useState(0);
  const { problem } = useAnswer('export', async (signal) => {
    const rows = await readAllRows({ table, caller: place.caller }, place, setCount, signal);
    saveFile(`${table.name}.${format}`, toText(table, rows, format));
    const isCut = rows.length >= exportLimit;
    say(
      `Saved ${rows.length.toLocaleString()} rows${isCut ? ', the most that a file gets. Filter to get the others.' : '.'}`,
    );
    onClose();
  });
  return (
    <Dialog title={`Save ${table.name} as ${format.toUpperCase()}`} onClose={onClose}>
      <p role="status">
        {problem === null
          ? `${count.toLocaleString()} rows so far, at most ${exportLimit.toLocaleString()} …`
          : problem.message}
      </p>
    </Dialog>
  );
}
