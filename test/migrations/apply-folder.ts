/**
 * Applies a folder of migrations one by one, each in a transaction, and reports what applied, what failed, and what was missing:
 *
 *   node test/migrations/apply-folder.ts FOLDER      (the database is DATABASE_URL, which `pgreflect init` has prepared)
 *
 * Fails if one failed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

/** A migration that failed, and PostgreSQL's message. */
interface Failure {
  readonly file: string;
  readonly message: string;
}

/** What came of a folder. */
export interface Applied {
  readonly applied: readonly string[];
  readonly failed: readonly Failure[];
}

/** @param url Connection string of a user who may do all that the migrations do. */
export async function applyFolder(url: string, folder: string): Promise<Applied> {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  const applied: string[] = [];
  const failed: Failure[] = [];
  for (const file of files) {
    // A connection each, because a migration may change settings of its session.
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await client.query('begin');
      await client.query(readFileSync(join(folder, file), 'utf8'));
      await client.query('commit');
      applied.push(file);
    } catch (error) {
      failed.push({ file, message: error instanceof Error ? error.message : String(error) });
    } finally {
      await client.end();
    }
  }
  return { applied, failed };
}

/** The failures by message, the most frequent first. */
export function printApplied({ applied, failed }: Applied): string {
  const groups = Map.groupBy(failed, ({ message }) => message);
  const lines = [...groups]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([message, files]) => `${files.length}  ${message}\n     ${files.map(({ file }) => file).join(' ')}`);
  return [`${applied.length} applied, ${failed.length} failed`, ...lines].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder] = process.argv.slice(2);
  const url = process.env.DATABASE_URL;
  if (folder === undefined || url === undefined)
    throw new Error('Usage: DATABASE_URL=… node test/migrations/apply-folder.ts FOLDER');
  const result = await applyFolder(url, folder);
  console.log(printApplied(result));
  process.exitCode = result.failed.length === 0 ? 0 : 1;
}
