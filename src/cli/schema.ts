/**
 * `pgreflect schema`: prints a role's schema as GraphQL SDL or as an introspection result, for code generators and CI.
 * Works even if introspection is off for clients.
 */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildSchema, introspectionFromSchema } from 'graphql';
import { loadOptionsOrThrow } from '../config/load-options.ts';
import { readFingerprint } from '../graphql/catalog/read-catalog.ts';
import { printMistake } from '../graphql/documents/parse-documents.ts';
import { buildModel } from '../graphql/model/build-model.ts';
import type { Model } from '../graphql/model/model.ts';
import { buildIntrospectionSchema, buildRoleSchema, printRoleSchema } from '../graphql/schema/build-schema.ts';
import { printUsedSchema } from '../graphql/schema/print-used-schema.ts';
import type { SystemPool } from '../postgres/system/run-system.ts';
import { withoutPauses } from '../shared/slices.ts';
import {
  type Command,
  type CommandContext,
  CommandError,
  failCommand,
  flagText,
  readTypedFile,
  resolveTypedPath,
} from './shared/command.ts';
import { describeError } from './shared/describe-error.ts';
import { databaseUrlFor, readCatalogFor } from './shared/read-model.ts';
import { findMistakes, printOfTyped, readTypedDocuments } from './shared/typed-documents.ts';
import { withDatabase } from './shared/with-database.ts';

/** The command `pgreflect schema`. */
export const schema: Command = {
  flags: [
    { flag: 'role', placeholder: 'ROLE', doc: 'Role whose schema to print (default: the anon role).' },
    { flag: 'documents', placeholder: 'PATH', doc: 'Print only what the operations of this folder or file use.' },
    { flag: 'json', doc: 'Print the introspection result instead of SDL.' },
    { flag: 'out', placeholder: 'FILE', doc: 'Write to a file instead of standard output.' },
    { flag: 'check', placeholder: 'FILE', doc: 'Compare with a file; exit with 1 if they differ.' },
    { flag: 'watch', doc: 'Keep running, and print or write again when the schema changes.' },
  ],
  notes: `A local project running in the working directory needs no --database-url.

Examples:
  pgreflect schema --role authenticated --out schema.graphql
  pgreflect schema --documents src --out schema.graphql
  pgreflect schema --check schema.graphql      # in CI
  pgreflect schema --json --out schema.json --watch`,
  run: runSchema,
};

async function runSchema(context: CommandContext): Promise<number> {
  const { values } = loadOptionsOrThrow(
    ['databaseUrl', 'schemas', 'extensions', 'anonRole', 'schemaPollMs'],
    context.sources,
  );
  const [out, check] = [flagText(context, 'out'), flagText(context, 'check')];
  const documents = flagText(context, 'documents');
  if (out === '') failCommand('--out must be the name of a file.', 'pgreflect schema --out schema.graphql');
  const watch = context.flags.watch === true;
  if (check !== null && (out !== null || watch))
    failCommand('--check cannot be combined with --out or --watch.', 'Use one of them.');
  const role = flagText(context, 'role') ?? values.anonRole!;
  const render = async (pool: SystemPool) => {
    const model = buildModel(await readCatalogFor(pool, values.schemas, role), {
      role,
      extensions: values.extensions!,
    });
    if (model.directiveError !== null) {
      const { object, problem } = model.directiveError;
      failCommand(`The comment directive of ${object} is invalid: ${problem}`, 'pgreflect check lists all of them.');
    }
    const used = documents === null ? null : printUsed(context, model, documents);
    if (!context.flags.json) return used ?? printRoleSchema(model);
    const full = used === null ? withoutPauses(buildIntrospectionSchema(model, 'always')!) : buildSchema(used);
    return `${JSON.stringify({ data: introspectionFromSchema(full) }, null, 2)}\n`;
  };
  const url = databaseUrlFor(values.databaseUrl, context);
  const fingerprint = async (pool: SystemPool) =>
    `${documents === null ? '' : printOfTyped(context, documents)}${await readFingerprint(pool, values.schemas)}`;
  if (watch) return watchSchema(url, { context, fingerprint, pollMs: values.schemaPollMs!, render, out });
  const text = await withDatabase(url, render);
  if (check !== null) return compare(text, check, context);
  deliver(text, out, context);
  return 0;
}

/** @throws CommandError with each mistake of the documents. */
function printUsed(context: CommandContext, model: Model, path: string): string {
  const whole = buildRoleSchema(model);
  const parsed = readTypedDocuments(context, path);
  const mistakes = findMistakes(whole, parsed);
  if (mistakes.length > 0) throw new CommandError(mistakes.map((one) => ({ problem: printMistake(one), fix: null })));
  return printUsedSchema(
    whole,
    parsed.documents.map(({ document }) => document),
  );
}

function deliver(text: string, out: string | null, context: CommandContext): void {
  if (out === null) {
    context.print(text.trimEnd());
    return;
  }
  const path = resolveTypedPath(context, out);
  // Rename a complete file: a watching code generator must never read half of one.
  try {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  } finally {
    rmSync(`${path}.new`, { force: true });
  }
  context.note(`Written to ${out}.`);
}

function compare(text: string, file: string, context: CommandContext): number {
  const known = readTypedFile(
    context,
    file,
    '--check',
    `To create it, run the same command with --out ${file} in place of --check ${file}.`,
  );
  const [now, before] = [text.split('\n'), known.replaceAll('\r\n', '\n').split('\n')];
  const line = now.findIndex((content, index) => content !== before[index]);
  if (line === -1 && now.length === before.length) {
    context.note(`${file} is up to date.`);
    return 0;
  }
  const at = line === -1 ? now.length : line;
  context.note(`${file} differs from the database at line ${at + 1}:`);
  context.note(`  file:     ${before[at] ?? '(ends)'}\n  database: ${now[at] ?? '(ends)'}`);
  context.note(`To update it, run the same command with --out ${file} in place of --check ${file}.`);
  return 1;
}

interface Watch {
  readonly context: CommandContext;
  /** Changes where what is printed may change. */
  readonly fingerprint: (pool: SystemPool) => Promise<string>;
  readonly pollMs: number;
  readonly render: (pool: SystemPool) => Promise<string>;
  readonly out: string | null;
}

async function watchSchema(url: string, watch: Watch): Promise<number> {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stopping.abort());
  let fingerprint = '';
  let last = '';
  await withDatabase(url, async (pool) => {
    while (!stopping.signal.aborted) {
      try {
        const now = await watch.fingerprint(pool);
        if (now !== fingerprint) {
          const text = await watch.render(pool);
          if (text !== last) deliver(text, watch.out, watch.context);
          [fingerprint, last] = [now, text];
        }
      } catch (error) {
        // At the first read, it is the operator's mistake; later, the database's or a half-done change.
        if (fingerprint === '') throw error;
        watch.context.note(describeError(error));
      }
      await sleep(watch.pollMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  });
  return 0;
}
