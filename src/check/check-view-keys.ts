/**
 * Checks of `pgreflect check` for views, whose keys come from directives: which columns to name, and whether the named ones are
 * unique. With a key that is not unique, paging skips rows.
 */
import type { Catalog, CatalogTable } from '../graphql/catalog/catalog.ts';
import { quoteAlways, quoteName } from '../graphql/catalog/quote-name.ts';
import { tableFix } from '../graphql/model/comments/comment-fix.ts';
import { readSettings } from '../graphql/model/comments/directive-settings.ts';
import { commentsOnly, createContext, describeTable, offersTable, tablePath } from '../graphql/model/model-context.ts';
import { primaryKey } from '../graphql/model/tables/primary-key.ts';
import { missingName } from '../graphql/model/tables/select-tables.ts';
import type { Queryable } from '../postgres/system/queryable.ts';
import { type CheckScope, type Finding, remark } from './finding.ts';
import { whyNotGatewayLogin } from './gateway-login.ts';
import { tooLong, tryRead } from './try-read.ts';
import { type Denial, describeDenials } from './unreadable-views.ts';

/**
 * What to do about views without a key, by their SQL names: the SQL that names the key of the one table that a view reads, where
 * the view passes it on; else what a person must decide. Null where the comment cannot be changed.
 */
export function proposeViewKeys(catalog: Catalog): ReadonlyMap<string, string | null> {
  const context = createContext(catalog, commentsOnly, null);
  const views = catalog.tables.filter(
    (row) => 'vm'.includes(row.relkind) && primaryKey(row, readSettings(catalog, 'table', row._id).settings) === null,
  );
  return new Map(
    views.map((view) => {
      const name = (columns: readonly string[]) =>
        tableFix(context, view, { ...missingName(context, view), primary_key_columns: columns });
      const passed = passedKey(view);
      if (passed !== null) return [tablePath(context, view), name(passed)] as const;
      const names = view.getAttributes().map(({ attname }) => attname);
      const likeliest = names.includes('id') ? 'id' : names[0];
      const declared = likeliest === undefined ? null : name([likeliest]);
      return [
        tablePath(context, view),
        declared &&
          remark(`If ${quoteName(likeliest!)} is unique in it; pages of another column would skip rows:`, declared),
      ] as const;
    }),
  );
}

/** Columns of a view by which the table that it reads has its primary key. */
function passedKey(view: CatalogTable): readonly string[] | null {
  const base = view.getBase();
  const key = base?.indexes.find(({ indisprimary, hasChildTables }) => indisprimary && !hasChildTables);
  const numbers = key?.indkey.slice(0, key.indnkeyatts ?? key.indkey.length).map((number) => base?.columns.get(number));
  const names = numbers?.flatMap(
    (number) => view.getAttributes().find(({ attnum }) => attnum === number)?.attname ?? [],
  );
  return names !== undefined && names.length === numbers?.length ? names : null;
}

const maxTotalMs = 20_000;

/**
 * Keys of directives that two rows share, as an API role sees the rows, and the views that a role may select from and
 * yet cannot read. Reading a view may run other owners' code, so it runs as a request would: under that role, and with a
 * login such as the gateway's.
 *
 * @param isIgnored As `ignoredByComments`, for findings about several views.
 */
export async function readKeyedViews(
  { tx, catalog, roles, serviceRole }: CheckScope,
  isIgnored: (finding: Pick<Finding, 'check' | 'object'>) => boolean,
): Promise<readonly Finding[]> {
  const context = createContext(catalog, commentsOnly, null);
  const declared = catalog.tables.flatMap((row) => {
    const { settings } = readSettings(catalog, 'table', row._id);
    const key = settings.primaryKeyColumns && primaryKey(row, settings);
    const readers = key ? roles.filter((name) => mayRead(catalog, name, row, key)) : [];
    const isReal = row.getIndexes().some(({ indisprimary }) => indisprimary);
    return key && readers.length > 0 && !isReal && offersTable(context, row) ? [{ row, key, readers }] : [];
  });
  if (declared.length === 0) return [];
  const reason = await whyNotGatewayLogin(tx, 'Measured keys of views', [...roles, serviceRole]);
  if (reason !== null)
    return [{ check: 'key_not_measured', severity: 'note', object: null, message: reason, fix: null }];
  tx.noteUserCode?.();
  const until = performance.now() + maxTotalMs;
  const findings: Finding[] = [];
  const denials: Denial[] = [];
  for (const { row, key, readers } of declared) {
    const view = tablePath(context, row);
    const columns = key.map((number) => row.getAttributes().find(({ attnum }) => attnum === number)!.attname);
    let found: Measured | null = null;
    for (const role of readers) {
      if (performance.now() > until) found ??= tooLong;
      if (found === tooLong) break;
      const access = catalog.roles.get(role)!;
      const readable = row.getAttributes().filter(({ attnum }) => access.hasColumn(row._id, attnum, 'select'));
      const names = readable.map(({ attname }) => attname);
      const read = await tryRead(tx, role, `select ${listed(names)} from ${view} t limit 1`);
      if ('denied' in read) denials.push({ role, view, message: read.denied, isRaised: read.isRaised });
      else found ??= read === tooLong ? read : await isAmbiguous(tx, view, columns, role);
    }
    if (found === null || found === 'unique') continue;
    const subject = `The key (${columns.map(quoteName).join(', ')}) of ${describeTable(context, row).replace(/^./, (first) => first.toLowerCase())}`;
    const skips = `${subject} is not unique, so pages skip rows. Name columns that are unique by primary_key_columns.`;
    const about = { object: view, fix: null };
    findings.push(
      found === 'ambiguous'
        ? { ...about, check: 'key_not_unique', severity: 'error', message: skips }
        : {
            ...about,
            check: 'key_not_measured',
            severity: 'note',
            message: `${subject} was not measured: ${found.unknown}.`,
          },
    );
  }
  const meant = denials.filter(({ view }) => !isIgnored({ check: 'view_unreadable', object: view }));
  return [...(await describeDenials(tx, meant)), ...findings];
}

function mayRead(catalog: Catalog, role: string, row: CatalogTable, key: readonly number[]): boolean {
  const access = catalog.roles.get(role);
  if (access === undefined || !access.usesNamespace(row.relnamespace)) return false;
  return key.every((number) => access.hasColumn(row._id, number, 'select'));
}

function listed(columns: readonly string[]): string {
  return columns.map((name) => `t.${quoteAlways(name)}`).join(', ');
}

/** `unknown`: why it cannot be determined. */
type Measured = 'ambiguous' | 'unique' | { readonly unknown: string };

async function isAmbiguous(tx: Queryable, path: string, columns: readonly string[], role: string): Promise<Measured> {
  const groups = listed(columns);
  const read = await tryRead(
    tx,
    role,
    `select exists (select from ${path} t group by ${groups} having pg_catalog.count(*) operator(pg_catalog.>) 1) as ambiguous`,
  );
  if ('denied' in read) return { unknown: read.denied };
  if ('unknown' in read) return read;
  return read.rows[0]?.ambiguous === true ? 'ambiguous' : 'unique';
}
