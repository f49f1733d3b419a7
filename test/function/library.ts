/**
 * The shortest way to call functions in tests: the library of the fixture with a test's own functions, asked as `anon`.
 */
import { type ExecutionOptions, type Json, startExecution, type TestExecution } from '../support/execution.ts';
import { createDatabase, fixture, type TestDatabase } from '../support/postgres.ts';

type Values = Readonly<Record<string, unknown>>;

/** A database with its executor; everything asks as `anon`. */
export interface Library {
  readonly database: TestDatabase;
  readonly execution: TestExecution;
  /** `data` of an answer without errors. */
  ask(query: string, variables?: Values): Promise<Json>;
  /** The messages of the errors of an answer. */
  errors(query: string, variables?: Values): Promise<readonly string[]>;
  /** The text of the one statement of an operation. */
  text(query: string, variables?: Values): Promise<string>;
  /** The printed type of a field of `Query`, `Mutation` or an object type, with its arguments; undefined without it. */
  field(type: string, name: string): Promise<string | undefined>;
  /** Runs the operation and returns what `aside.note` was told meanwhile. */
  notesOf(query: string, variables?: Values): Promise<string[]>;
}

/** Opens the library with further SQL. */
export async function openLibrary(extra: string, options: ExecutionOptions = {}): Promise<Library> {
  const database = await createDatabase(fixture('function-library.sql'), extra);
  const execution = await startExecution(database, { schemas: ['lib'], ...options });
  const given = (variables?: Values) => (variables === undefined ? {} : { variables });
  const library: Library = {
    database,
    execution,
    ask: (query, variables) => execution.data('anon', query, given(variables)),
    errors: (query, variables) => execution.errors('anon', query, given(variables)),
    async text(query, variables) {
      const statements = await execution.statements('anon', query, given(variables));
      if (statements.length !== 1) throw new Error(`${statements.length} statements`);
      return statements[0]!.text;
    },
    async field(type, name) {
      const { shared } = await execution.role('anon');
      const named = shared.schema.getType(type);
      const found = named && 'getFields' in named ? named.getFields()[name] : undefined;
      if (found === undefined) return undefined;
      const args = 'args' in found ? found.args.map((argument) => `${argument.name}: ${String(argument.type)}`) : [];
      return `${args.length === 0 ? '' : `(${args.join(', ')}): `}${String(found.type)}`;
    },
    async notesOf(query, variables) {
      await database.query('delete from aside.calls');
      await library.ask(query, variables);
      const rows = await database.query<{ what: string }>('select c.what from aside.calls c order by c.ctid');
      return rows.map(({ what }) => what);
    },
  };
  return library;
}
