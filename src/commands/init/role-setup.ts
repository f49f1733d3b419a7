/**
 * Brings the gateway's roles into a database, or takes them out: asks PostgreSQL which statements are missing
 * (sql/roles.sql, sql/roles-remove.sql), then runs them one by one.
 *
 * Each statement stands alone, so what one login may not do does not undo the rest, and a second run does only what is
 * missing. The password of a new login role travels as a SCRAM verifier, so that it is in no log of the server.
 */

import { readExposedNames } from '../../catalog/read-catalog.ts';
import { DatabaseError } from '../../postgres/failure.ts';
import { MigrationError } from '../../postgres/migrations/migrate.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { loadSqlFile } from '../../postgres/system/sql-file.ts';
import { makeScramVerifier } from './scram-verifier.ts';

/** The names of the roles. */
export interface RoleNames {
  readonly anon: string;
  readonly authenticated: string;
  readonly service: string;
  readonly login: string;
}

/** What a database is to be prepared with. */
export interface RoleSetup extends RoleNames {
  /** For a login role that has to be made; null: it is made without one. */
  readonly loginPassword: string | null;
  /** Null: the search path. */
  readonly schemas: readonly string[] | null;
  /** Also grant everything on what exists and on what will be made in the schemas. */
  readonly grantDefaults: boolean;
}

/** One thing that is to be so. */
export interface SetupStep {
  /** What, in a person's words: `role "anon"`. */
  readonly topic: string;
  /** The statement that makes it so; null where it is so already. */
  readonly statement: string | null;
  /** A sentence on what cannot be done by this login. */
  readonly advice: string | null;
}

/** What became of a step. */
export interface StepOutcome extends SetupStep {
  readonly result: 'done' | 'unchanged' | 'refused';
  /** Why PostgreSQL refused, as a sentence; null otherwise. */
  readonly reason: string | null;
}

/** What the database still lacks, in the order in which it has to be done. Writes nothing. */
export async function planRoleSetup(database: Queryable, setup: RoleSetup): Promise<readonly SetupStep[]> {
  const { loginPassword, ...names } = setup;
  const schemas = await readExposedNames(database, setup.schemas);
  return readSteps(database, 'roles.sql', {
    ...names,
    schemas,
    verifier: loginPassword && makeScramVerifier(loginPassword),
  });
}

/** What takes the roles and their privileges out of the database. Writes nothing. */
export async function planRoleRemoval(
  database: Queryable,
  names: RoleNames & { readonly auth: string },
): Promise<readonly SetupStep[]> {
  return readSteps(database, 'roles-remove.sql', names);
}

/** The rows of a file of `sql/` that says what is missing. */
export async function readSteps(database: Queryable, file: string, names: object): Promise<readonly SetupStep[]> {
  const rows = await database.query(loadSqlFile(file), [JSON.stringify(names)]);
  return rows as unknown as readonly SetupStep[];
}

/**
 * Runs one step. PostgreSQL's refusal is an outcome; only a lost connection throws.
 *
 * @param run Does what the statement says; false: there was nothing to do.
 */
export async function runStep(step: SetupStep, run: () => Promise<unknown>): Promise<StepOutcome> {
  const unchanged = { ...step, statement: null, result: 'unchanged', reason: null } as const;
  if (step.statement === null) return unchanged;
  try {
    return (await run()) === false ? unchanged : { ...step, result: 'done', reason: null };
  } catch (error) {
    return { ...step, result: 'refused', reason: refusalReason(error) };
  }
}

function refusalReason(error: unknown): string {
  if (error instanceof MigrationError) return error.reason;
  if (!(error instanceof DatabaseError) || error.kind !== 'statement') throw error;
  const detail = error.detail === null ? '' : `: ${error.detail.replaceAll('\n', '; ')}`;
  return `${error.primary}${detail}`;
}
