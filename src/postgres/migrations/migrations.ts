/**
 * Parses the numbered migrations of the auth service (`sql/auth/0001-….sql`) into pieces, each with the object that it
 * creates.
 *
 * A piece starts with a line `-- missing: KIND NAME` and runs only if that object is missing. The same files therefore
 * serve a new database and one made by Supabase Auth. A piece with `-- always: …` always runs and checks by itself.
 */
import { invariant } from '../../shared/invariant.ts';
import { listSqlFiles, loadSqlFile } from '../system/sql-file.ts';

/** Statements that create one object, or that check by themselves. */
export interface MigrationPiece {
  readonly kind: 'schema' | 'type' | 'table' | 'function' | 'always';
  /** Qualified, as in SQL: `auth.users`, `auth.uid()`. For kind `always`: its purpose. */
  readonly name: string;
  readonly text: string;
}

/** One file. */
export interface Migration {
  /** The number at the start of its name. */
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

const kinds = ['schema', 'type', 'table', 'function', 'always'] as const;

/** Splits the text of a migration. Text before the first piece is its header. */
function parsePieces(text: string): readonly MigrationPiece[] {
  const [, ...parts] = text.split(/^-- (?:missing: |(?=always: ))/m);
  return parts.map((part) => {
    const [, word, name] = /^(\w+):? (.+)$/m.exec(part) ?? [];
    const kind = kinds.find((known) => known === word);
    invariant(kind !== undefined && name !== undefined, `a migration names an object of unknown kind: ${word}`);
    return { kind, name, text: part.slice(part.indexOf('\n') + 1).trim() };
  });
}
