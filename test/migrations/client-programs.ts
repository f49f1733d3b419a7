/**
 * As much of `psql` and `pg_dump` as docs/from-supabase.md uses, because the embedded server comes without them:
 *
 *   node client-programs.ts psql URL [--command SQL] [--single-transaction] --file FILE …   each part of a file up to a line `;` is one message
 *   node client-programs.ts pg_dump URL --table PATTERN … --file FILE          rows alone, and where sequences stand
 *
 * move.nightly.test.ts types the same with those of the system.
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

const self = fileURLToPath(import.meta.url);

/** Puts the two programs into a folder, for the `PATH`. */
export function installClientPrograms(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of ['psql', 'pg_dump']) {
    writeFileSync(join(folder, name), `#!/bin/sh\nexec '${process.execPath}' '${self}' ${name} "$@"\n`);
    chmodSync(join(folder, name), 0o755);
  }
}

/** Sends `COPY … FROM stdin` with its lines. */
class CopyIn {
  readonly #text: string;
  readonly #lines: string;
  readonly #done: (error: Error | null) => void;

  constructor(text: string, lines: string, done: (error: Error | null) => void) {
    this.#text = text;
    this.#lines = lines;
    this.#done = done;
  }
  submit(connection: { query(text: string): void }): void {
    connection.query(this.#text);
  }
  handleCopyInResponse(connection: { sendCopyFromChunk(chunk: Buffer): void; endCopyFrom(): void }): void {
    connection.sendCopyFromChunk(Buffer.from(this.#lines));
    connection.endCopyFrom();
  }
  handleCommandComplete(): void {}
  handleReadyForQuery(): void {
    this.#done(null);
  }
  handleError(error: Error): void {
    this.#done(error);
  }
}

async function psql(client: pg.Client, files: readonly string[], isOneTransaction: boolean): Promise<void> {
  if (isOneTransaction) await client.query('begin');
  for (const file of files) {
    for (const [, before = '', copy, lines = ''] of `${readFileSync(file, 'utf8')}\n`.matchAll(
      /([\s\S]*?)(?:^(COPY .* FROM stdin;)\n([\s\S]*?)^\\\.$|$(?![\s\S]))/gm,
    )) {
      for (const part of before.split(/^;$/m)) if (part.trim() !== '') await client.query(part);
      if (copy === undefined) continue;
      await new Promise<void>((resolve, reject) => {
        const done = (error: Error | null) => (error === null ? resolve() : reject(error));
        client.query(new CopyIn(copy, lines, done) as unknown as pg.Submittable);
      });
    }
  }
  if (isOneTransaction) await client.query('commit');
}

async function dumpRows(client: pg.Client, patterns: readonly string[]): Promise<string> {
  const likes = patterns.map((pattern) => pattern.replace(/\*$/, '%'));
  await client.query(`set search_path = ''`);
  const { rows: tables } = await client.query<{ name: string; columns: string[] }>(
    `select c.oid::pg_catalog.regclass::text as name,
      array(select pg_catalog.quote_ident(a.attname) from pg_catalog.pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum) as columns
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname || '.' || c.relname like any ($1)`,
    [likes],
  );
  let text = '';
  for (const { name, columns } of tables) {
    const { rows } = await client.query({
      text: `select ${columns.map((column) => `${column}::text`)} from ${name}`,
      rowMode: 'array',
    });
    const lines = (rows as (string | null)[][]).map((row) => row.map(escapeText).join('\t'));
    text += `COPY ${name} (${columns.join(', ')}) FROM stdin;\n${lines.map((line) => `${line}\n`).join('')}\\.\n`;
  }
  const { rows: sequences } = await client.query<{ name: string; value: string }>(
    `select s.oid::pg_catalog.regclass::text as name, pg_catalog.pg_sequence_last_value(s.oid)::text as value
    from pg_catalog.pg_class s
    join pg_catalog.pg_depend d on d.objid = s.oid and d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.deptype in ('a', 'i')
    where s.relkind = 'S' and d.refobjid = any ($1::text[]::pg_catalog.regclass[])`,
    [tables.map(({ name }) => name)],
  );
  for (const { name, value } of sequences)
    if (value !== null) text += `SELECT pg_catalog.setval('${name.replaceAll("'", "''")}', ${value});\n`;
  return text;
}

function escapeText(value: string | null): string {
  if (value === null) return '\\N';
  const letters: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
  return value.replace(/[\\\n\r\t]/g, (letter) => letters[letter]!);
}

async function run([program, connectionString, ...args]: readonly string[]): Promise<void> {
  const valuesOf = (name: string) => args.filter((_, place) => args[place - 1] === name);
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const files = valuesOf('--file');
    for (const text of valuesOf('--command')) await client.query(text);
    if (program === 'psql') await psql(client, files, args.includes('--single-transaction'));
    else writeFileSync(files[0]!, await dumpRows(client, valuesOf('--table')));
  } finally {
    await client.end();
  }
}

if (process.argv[1] === self) await run(process.argv.slice(2));
