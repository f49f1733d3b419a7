/**
 * Notes every statement that the product sends to PostgreSQL, in this process and in those that tests start, with what its names
 * are looked up in. Loaded before anything else connects; `check-sent-statements.ts` looks at what was noted.
 *
 * It listens at the socket of the driver, behind the last line of our own, so nothing gets past it: the messages Parse, Bind and
 * Query say which text runs, and the texts before it in the transaction whether the path was pinned.
 */
import { appendFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Path } from './qualified-names.ts';

/** A text, and the search path that it ran with. */
export interface SentStatement {
  readonly text: string;
  readonly path: Path;
}

interface Notes {
  readonly known: Set<string>;
  sent: SentStatement[];
}

/** Where processes that tests start write what they send, a JSON object a line. */
export const childFile = process.env.SENT_STATEMENTS ?? join(tmpdir(), `pgreflect-sent-${process.pid}.jsonl`);
const isChild = process.env.SENT_STATEMENTS !== undefined;

/** What a process that a test starts needs in its environment. */
export const childEnvironment = {
  // Set where coverage is measured (run-coverage.ts).
  ...(process.env.CHILD_COVERAGE !== undefined && {
    NODE_V8_COVERAGE: process.env.CHILD_COVERAGE,
    NODE_DISABLE_COMPILE_CACHE: '1',
  }),
  SENT_STATEMENTS: childFile,
  NODE_OPTIONS: `--import=${new URL(import.meta.url).pathname}`,
};

/** One for the process: test files that share it load this file anew. */
const registry = globalThis as unknown as { sentStatements?: Notes };
const notes: Notes = registry.sentStatements ?? { known: new Set(), sent: [] };

/** What was sent since it was asked the last time; each text once in a process. */
export function takeSent(): readonly SentStatement[] {
  const { sent } = notes;
  notes.sent = [];
  return sent;
}

/** Notes a statement that has not been noted before. */
export function noteSent(statement: SentStatement): void {
  const key = `${statement.path} ${statement.text}`;
  if (notes.known.has(key)) return;
  notes.known.add(key);
  if (isChild) appendFileSync(childFile, `${JSON.stringify(statement)}\n`);
  else notes.sent.push(statement);
}

/** Connections of tests, whose statements are their own. */
const namesOfTests = new Set(['pgreflect-test', 'pgreflect-own', 'pgreflect-listener']);

interface Client {
  readonly connectionParameters: { readonly application_name?: string };
  readonly connection: { readonly stream: { write(chunk: Buffer, ...rest: unknown[]): unknown } };
  once(event: 'connect', listener: () => void): void;
}

if (registry.sentStatements === undefined) {
  registry.sentStatements = notes;
  const prototype = pg.Client.prototype as unknown as { connect(this: Client, ...given: unknown[]): unknown };
  const { connect } = prototype;
  prototype.connect = function connectAndListen(...given) {
    const name = this.connectionParameters.application_name ?? '';
    if (name.startsWith('pgreflect') && !namesOfTests.has(name)) this.once('connect', () => listen(this));
    return connect.apply(this, given);
  };
}

function listen({ connection: { stream } }: Client): void {
  const session = new Session();
  const write = stream.write.bind(stream);
  stream.write = (chunk, ...rest) => {
    session.read(chunk);
    return write(chunk, ...rest);
  };
}

/** What a connection has been told so far. */
class Session {
  readonly #texts = new Map<string, string>();
  #isInTransaction = false;
  #isPinned = false;
  /** A script of the operator's runs: `pgreflect start --schema-file`. */
  #isForeign = false;

  /** Messages of the protocol: a letter, the length with itself, and the content. */
  read(bytes: Buffer): void {
    for (let at = 0; at + 5 <= bytes.length; at += 1 + bytes.readUInt32BE(at + 1)) {
      const content = bytes.subarray(at + 5, at + 1 + bytes.readUInt32BE(at + 1));
      this.#message(String.fromCharCode(bytes[at]!), content);
    }
  }

  #message(kind: string, content: Buffer): void {
    const [first = '', second = ''] = kind === 'P' || kind === 'B' || kind === 'Q' ? splitAtZero(content) : [];
    if (kind === 'P') this.#texts.set(first, second);
    if (kind === 'B') this.#run(this.#texts.get(second) ?? '');
    if (kind === 'Q') {
      this.#run(first);
      if (/^reset all$/.test(first)) this.#isForeign = true;
    }
    if ((kind === 'S' || kind === 'Q') && !this.#isInTransaction) this.#end();
  }

  #run(text: string): void {
    if (this.#isForeign && !isEnd.test(text)) return;
    noteSent({ text, path: this.#isPinned ? 'pinned' : 'unpinned' });
    if (/^\s*begin\b/i.test(text)) this.#isInTransaction = true;
    if (isEnd.test(text)) {
      this.#isInTransaction = false;
      this.#end();
    }
    if (text === 'reset all') this.#isPinned = false;
    if (isPin.test(text)) this.#isPinned = true;
  }

  #end(): void {
    this.#isPinned = false;
    this.#isForeign = false;
  }
}

/** Set as in src/postgres/system/system-connection.ts, which commands that ask for no database need not load. */
const isPin = /^select pg_catalog\.num_nulls\(pg_catalog\.set_config\('search_path', 'pg_catalog, pg_temp', true\)/;
const isEnd = /^\s*(commit|rollback)\s*$/i;

/** The first two texts of a message, which end with a zero. */
function splitAtZero(content: Buffer): readonly [string, string] {
  const end = content.indexOf(0);
  const second = content.indexOf(0, end + 1);
  return [content.toString('utf8', 0, end), content.toString('utf8', end + 1, second < 0 ? undefined : second)];
}
