/** Reads the stored emails of a project without a mail server (captured-transport.ts), newest first. */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { about, integer, named, objectOf, text, type ValueOf } from '../../shared/schema.ts';
import { maxCapturedEmails } from './captured-transport.ts';

/** A stored email. */
export const capturedEmail = named(
  'CapturedEmail',
  objectOf({
    id: about(integer, 'Increasing.'),
    capturedAt: about(text, 'ISO 8601 in UTC.'),
    kind: about(text, 'Such as `recovery`; docs/template-variables.md lists them.'),
    from: about(text, '`Name <address>`, or the address alone.'),
    to: text,
    subject: text,
    html: text,
    text: about(text, 'The HTML as text.'),
    source: about(text, 'The whole message as it would be sent.'),
  }),
);

/** A stored email. */
export type CapturedEmail = ValueOf<typeof capturedEmail>;

interface InboxFilter {
  /** Only emails to this address, in any case; null: all. */
  readonly to?: string | null;
  /** Only emails with a greater id. */
  readonly after?: number;
}

/** Reads the inbox. */
export interface Inbox {
  /** Newest first. @throws DatabaseError */
  read(filter?: InboxFilter): Promise<readonly CapturedEmail[]>;
}

const select = `select c.id, c.captured_at as "capturedAt", c.kind, c.sender as "from", c.recipient as "to", c.subject, c.html, c.text, c.source
  from auth.pgreflect_captured_email c
  where ($1::text is null or pg_catalog.lower(c.recipient) = pg_catalog.lower($1::text)) and c.id > $2::bigint
  order by c.id desc limit ${maxCapturedEmails}`;

/** The inbox in a database. */
export function createInbox(database: Queryable): Inbox {
  return {
    async read({ to = null, after = 0 } = {}) {
      const rows = (await database.query(select, [to, after])) as unknown as readonly InboxRow[];
      return rows.map((row) => ({ ...row, id: Number(row.id), capturedAt: row.capturedAt.toISOString() }));
    },
  };
}

type InboxRow = Omit<CapturedEmail, 'id' | 'capturedAt'> & { readonly id: string; readonly capturedAt: Date };
