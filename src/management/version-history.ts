/**
 * Earlier versions of the stored configuration: author, time, changed fields, and the email texts. Other fields are
 * listed without values, because they may be secrets.
 */
import { checkedFields } from '../email/lint/check-field.ts';
import type { Queryable } from '../postgres/system/queryable.ts';
import { about, integer, listOf, named, objectOf, record, text, type ValueOf } from '../shared/schema.ts';

const fields = {
  version: integer,
  changed: listOf(about(text, 'Name of a field that differs from the version before.')),
  updatedAt: about(text, { format: 'date-time' }),
  updatedBy: about(text, 'Name and id of an access token.'),
};

/** A version. */
export const configVersion = named('ConfigVersion', objectOf(fields));

/** A version and the texts and switches of its emails. */
export const emailsOfVersion = named(
  'ConfigVersionEmails',
  objectOf({
    ...fields,
    values: about(record<Readonly<Record<string, unknown>>>(), 'Values by field; null: not stored.'),
  }),
);

/** A version. */
export type ConfigVersion = ValueOf<typeof configVersion>;

/** A version and the texts and switches of its emails. */
export type EmailsOfVersion = ValueOf<typeof emailsOfVersion>;

const columns = 'v.version::float8 as version, v.changed, v.updated_at, v.updated_by';

/** All kept versions. */
export async function listVersions(database: Queryable, ref: string): Promise<readonly ConfigVersion[]> {
  const rows = await database.query(
    `select ${columns} from auth.pgreflect_config_versions v where v.project_ref = $1 order by v.version desc`,
    [ref],
  );
  return rows.map(toVersion);
}

/** One version; null if it is not kept. */
export async function readVersion(database: Queryable, ref: string, version: number): Promise<EmailsOfVersion | null> {
  const [row] = await database.query(
    `select ${columns}, v.values from auth.pgreflect_config_versions v where v.project_ref = $1 and v.version = $2::bigint`,
    [ref, version],
  );
  if (row === undefined) return null;
  const stored = row.values as Readonly<Record<string, unknown>>;
  const switches = Object.keys(stored).filter((name) => name.startsWith('mailer_notifications_'));
  const names = [...checkedFields, 'mailer_layout_content', 'mailer_partials', ...switches];
  return { ...toVersion(row), values: Object.fromEntries(names.map((name) => [name, stored[name] ?? null])) };
}

function toVersion(row: Record<string, unknown>): ConfigVersion {
  return {
    version: row.version as number,
    changed: row.changed as string[],
    updatedAt: (row.updated_at as Date).toISOString(),
    updatedBy: row.updated_by as string,
  };
}
