/**
 * Reads the numbered migrations of the authentication service (`sql/auth/0001-….sql`) into pieces, each with the object
 * whose absence calls for it.
 *
 * A piece begins with a line `-- missing: KIND NAME` and ends before the next one. Because a piece says itself what it
 * makes, the same files serve a new database, one that Supabase Auth has made, and one of an earlier version. One that
 * begins with `-- always: …` looks for itself what there is to do.
 */
import { invariant } from '../../shared/invariant.ts';
import { listSqlFiles, loadSqlFile } from '../system/sql-file.ts';

/** Statements that make one object, or that decide for themselves. */
export interface MigrationPiece {
  readonly kind: 'schema' | 'type' | 'table' | 'column' | 'function' | 'always';
  /** Qualified, as SQL has it: `auth.users`, `auth.users.is_anonymous`, `auth.uid()`. Of kind `always`: what it is for. */
  readonly name: string;
  readonly text: string;
}

/** One file. */
export interface Migration {
  /** The number that its name begins with. */
  readonly version: number;
  /** The file's name without number and ending. */
  readonly title: string;
  readonly pieces: readonly MigrationPiece[];
}

/** All migrations in order. */
export function loadMigrations(): readonly Migration[] {
  return listSqlFiles('auth').flatMap((file) => {
    const [, version, title] = /^(\d{4})-(.+)\.sql$/.exec(file) ?? [];
    if (version === undefined || title === undefined) return [];
    return [{ version: Number(version), title, pieces: parsePieces(loadSqlFile(`auth/${file}`)) }];
  });
}

const kinds = ['schema', 'type', 'table', 'column', 'function', 'always'] as const;

/** Splits the text of a migration. What stands before the first piece is its header. */
function parsePieces(text: string): readonly MigrationPiece[] {
  const [, ...parts] = text.split(/^-- (?:missing: |(?=always: ))/m);
  return parts.map((part) => {
    const [, word, name] = /^(\w+):? (.+)$/m.exec(part) ?? [];
    const kind = kinds.find((known) => known === word);
    invariant(kind !== undefined && name !== undefined, `a migration names an object of unknown kind: ${word}`);
    return { kind, name, text: part.slice(part.indexOf('\n') + 1).trim() };
  });
}
