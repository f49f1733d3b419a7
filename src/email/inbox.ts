/**
 * Reads the emails that a project without a mail server has kept (captured-transport.ts), newest first.
 */
import type { SystemSession } from '../database/run-system.ts';
import { maxCapturedEmails } from './captured-transport.ts';

/** An email without its contents. */
export interface CapturedEmailSummary {
  /** Grows with time. */
  readonly id: number;
  /** ISO 8601 in UTC. */
  readonly capturedAt: string;
  /** See email-kind.ts. */
  readonly kind: string;
  /** `Name <address>`, or the address alone. */
  readonly from: string;
  readonly to: string;
  readonly subject: string;
}

/** A kept email. */
export interface CapturedEmail extends CapturedEmailSummary {
  readonly html: string;
  /** The HTML as text. */
  readonly text: string;
  /** The whole message as it would have been sent. */
  readonly source: string;
}

/** What can be read of the inbox. */
export interface Inbox {
  /** Newest first. @param to Only those to this address, whatever its case. @throws DatabaseError */
  list(to?: string | null): Promise<readonly CapturedEmailSummary[]>;
  /** As `list`, with the contents. */
  read(to?: string | null): Promise<readonly CapturedEmail[]>;
  /** One email; null where it is not there, or no longer. */
  find(id: number): Promise<CapturedEmail | null>;
}

const summary = 'c.id, c.captured_at, c.kind, c.sender, c.recipient, c.subject';
const contents = `${summary}, c.html, c.text, c.source`;

/** The inbox in a database. */
export function createInbox(database: SystemSession): Inbox {
  async function select(columns: string, to: string | null): Promise<readonly Row[]> {
    const text = `select ${columns} from auth.pgreflect_captured_email c
      where $1::text is null or pg_catalog.lower(c.recipient) = pg_catalog.lower($1::text)
      order by c.id desc limit ${maxCapturedEmails}`;
    return (await database.query(text, [to])) as unknown as readonly Row[];
  }
  return {
    list: async (to = null) => (await select(summary, to)).map(toSummary),
    read: async (to = null) => (await select(contents, to)).map(toEmail),
    async find(id) {
      const text = `select ${contents} from auth.pgreflect_captured_email c where c.id = $1`;
      const [row] = (await database.query(text, [id])) as unknown as readonly Row[];
      return row === undefined ? null : toEmail(row);
    },
  };
}

interface Row {
  readonly id: string;
  readonly captured_at: Date;
  readonly kind: string;
  readonly sender: string;
  readonly recipient: string;
  readonly subject: string;
  readonly html: string;
  readonly text: string;
  readonly source: string;
}

function toSummary(row: Row): CapturedEmailSummary {
  return {
    id: Number(row.id),
    capturedAt: row.captured_at.toISOString(),
    kind: row.kind,
    from: row.sender,
    to: row.recipient,
    subject: row.subject,
  };
}

function toEmail(row: Row): CapturedEmail {
  return { ...toSummary(row), html: row.html, text: row.text, source: row.source };
}
