/** The route for SQL of operators: for tokens with `database:write` alone, which nobody has without having asked for it. */
import { createHash } from 'node:crypto';
import { DatabaseError } from '../../postgres/database-error.ts';
import { isObject, isStorable } from '../../shared/json.ts';
import { about, listOf, named, objectOf, text } from '../../shared/schema.ts';
import { ManagementError } from '../management-error.ts';
import { type ManagementRoutes, noteUse, ofBodies, readBody } from './management-route-table.ts';

const statements = about(text, { description: 'SQL statements, separated by semicolons.', minLength: 1 });

/** The routes. */
export const databaseRoutes: ManagementRoutes = {
  'POST /database/statements': {
    access: 'database:write',
    id: 'runStatements',
    summary: 'Run SQL statements as the login of --admin-database-url, all or none',
    body: [named('Statements', about(objectOf({ statements }), { additionalProperties: false }))],
    answer: named('StatementsRun', objectOf({ warnings: listOf(about(text, 'As PostgreSQL says it.')) })),
    refusals: [...ofBodies, 'query_failed', 'no_admin_connection'],
    failure: 'schema_unavailable',
    async run(parts, request, { caller }) {
      const wanted = readStatements(readBody(request));
      if (parts.runStatements === null) throw new ManagementError('no_admin_connection');
      // Without the text, which may have secrets.
      const sha256 = createHash('sha256').update(wanted).digest('hex');
      await noteUse(parts, request, caller, ['statements_run', { sha256, bytes: Buffer.byteLength(wanted) }]);
      try {
        return { warnings: await parts.runStatements(wanted) };
      } catch (error) {
        if (!(error instanceof DatabaseError) || error.sqlstate === null || error.kind === 'unavailable') throw error;
        throw new ManagementError('query_failed', `${error.primary} (${error.sqlstate})`, { cause: error });
      }
    },
  },
};

/** @throws ManagementError `invalid_body`, `validation_failed` */
function readStatements(body: unknown): string {
  if (!isObject(body)) throw new ManagementError('invalid_body');
  const { statements: given, ...others } = body;
  const isText = typeof given === 'string' && given.trim() !== '' && isStorable(given);
  if (!isText || Object.keys(others).length > 0)
    throw new ManagementError('validation_failed', 'The body must be {"statements": SQL}');
  return given;
}
