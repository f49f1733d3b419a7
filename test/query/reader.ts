/**
 * The shortest way to read in tests of queries: a database made of fixtures, asked as `anon` through the executor.
 */
import { type ExecutionOptions, type Json, startExecution, type TestExecution } from '../support/execution.ts';
import { createDatabase, fixture, type TestDatabase } from '../support/postgres.ts';

type Values = Readonly<Record<string, unknown>>;

/** An execution and short ways to ask it. Everything asks as `anon`. */
export interface Reader {
  readonly database: TestDatabase;
  readonly execution: TestExecution;
  /** `data` of an answer without errors. */
  ask(query: string, variables?: Values): Promise<Json>;
  /** The whole answer. */
  run(query: string, variables?: Values): Promise<{ readonly data?: Json; readonly errors?: Json }>;
  /** The messages of the errors of an answer. */
  errors(query: string, variables?: Values): Promise<readonly string[]>;
  /** The text of the one statement of a query. */
  text(query: string, variables?: Values): Promise<string>;
  /** The value of `field` of every node of the connection in `selection`, for example `itemCollection(first: 2)`. */
  column(selection: string, field: string, variables?: Values, head?: string): Promise<Json[]>;
}

/** Opens a database with these fixtures or texts; schema `lib` is exposed unless said otherwise. */
export async function openReader(sources: readonly string[], options: ExecutionOptions = {}): Promise<Reader> {
  const texts = sources.map((source) => (source.endsWith('.sql') ? fixture(source) : source));
  const database = await createDatabase(...texts);
  const execution = await startExecution(database, { schemas: ['lib'], ...options });
  const given = (variables?: Values) => (variables === undefined ? {} : { variables });
  const reader: Reader = {
    database,
    execution,
    ask: (query, variables) => execution.data('anon', query, given(variables)),
    run: (query, variables) => execution.run('anon', query, given(variables)),
    errors: (query, variables) => execution.errors('anon', query, given(variables)),
    async text(query, variables) {
      const statements = await execution.statements('anon', query, given(variables));
      if (statements.length !== 1) throw new Error(`${statements.length} statements`);
      return statements[0]!.text;
    },
    async column(selection, field, variables, head = 'query') {
      const data = await reader.ask(`${head} { c: ${selection} { edges { node { v: ${field} } } } }`, variables);
      return data.c.edges.map(({ node }: Json) => node.v);
    },
  };
  return reader;
}
