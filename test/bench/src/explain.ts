/**
 * The SQL that pgreflect makes of an operation, as `pgreflect explain` prints it: `prepare operation as …; execute operation (…);`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Operation } from './cases.ts';
import type { BenchDatabase } from './database.ts';

/** A statement with `$1`, `$2`, … and the values that `explain` would give them. */
export interface ExplainedStatement {
  readonly text: string;
  readonly values: readonly string[];
}

const main = join(import.meta.dirname, '../../../dist/main.js');
const printed = /^prepare operation(?: \([^\n]*\))? as\n([\s\S]*?);\n\nexecute operation(?: \((.*)\))?;$/m;

/** What to ask for. */
export interface ExplainedOperation extends Pick<Operation, 'ours'> {
  readonly variables: object;
  /** `public` unless told. */
  readonly schema?: string;
}

/** Asks for the SQL of an operation; throws when the output is not what it used to be. */
export function explainStatement(
  db: BenchDatabase,
  { ours, variables, schema = 'public' }: ExplainedOperation,
): ExplainedStatement {
  const directory = mkdtempSync(join(tmpdir(), 'pgreflect-explain-'));
  try {
    const file = join(directory, 'operation.graphql');
    writeFileSync(file, ours);
    const options = ['explain', file, '--role', 'anon', '--schemas', schema, '--variables', JSON.stringify(variables)];
    const run = spawnSync(process.execPath, [main, ...options], {
      encoding: 'utf8',
      env: { ...process.env, PGREFLECT_DATABASE_URL: db.loginUrl },
    });
    const [, text, values = ''] = printed.exec(run.stdout) ?? [];
    if (text === undefined) throw new Error(`pgreflect explain printed no statement:\n${run.stdout}${run.stderr}`);
    return {
      text,
      values: [...values.matchAll(/'((?:[^']|'')*)'/g)].map(([, value]) => (value ?? '').replaceAll("''", "'")),
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
