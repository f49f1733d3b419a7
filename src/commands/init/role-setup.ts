/**
 * Brings the gateway's roles into a database, or takes them out: asks PostgreSQL which statements are missing
 * (sql/roles.sql, sql/roles-remove.sql), then runs them one by one.
 *
 * Each statement stands alone, so what one login may not do does not undo the rest, and a second run does only what is
 * missing. The password of a new login role travels as a SCRAM verifier, so that it is in no log of the server.
 */

import { readExposedNames } from '../../catalog/exposed-names.ts';
import { DatabaseError } from '../../postgres/failure.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { readSqlFile } from '../package-files.ts';
import { makeScramVerifier } from './scram-verifier.ts';

/** The names of the roles. */
export interface RoleNames {
  readonly anon: string;
  readonly authenticated: string;
  readonly service: string;
  readonly login: string;
}

/** The statements that prepare the roles of a database, and what they are for. */
/** What a database is to be prepared with. */
export interface RoleSetup extends RoleNames {
  /** For a login role that has to be made. */
  readonly loginPassword: string;
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
export interface StepOutcome {
  readonly step: SetupStep;
  readonly result: 'done' | 'unchanged' | 'refused';
  /** Why PostgreSQL refused, as a sentence; null otherwise. */
  readonly reason: string | null;
}

/** What the database still lacks, in the order in which it has to be done. Writes nothing. */
export async function planRoleSetup(session: Queryable, setup: RoleSetup): Promise<readonly SetupStep[]> {
  const { loginPassword, ...names } = setup;
  const schemas = await readExposedNames(session, setup.schemas);
  return readSteps(session, 'roles.sql', { ...names, schemas, verifier: makeScramVerifier(loginPassword) });
}

/** What takes the roles and their privileges out of the database. Writes nothing. */
export async function planRoleRemoval(session: Queryable, names: RoleNames): Promise<readonly SetupStep[]> {
  return readSteps(session, 'roles-remove.sql', names);
}

async function readSteps(session: Queryable, file: string, names: object): Promise<readonly SetupStep[]> {
  const rows = await session.query(readSqlFile(file), [JSON.stringify(names)]);
  return rows as unknown as readonly SetupStep[];
}

/** Runs one step. PostgreSQL's refusal is an outcome; only a lost connection throws. */
export async function runStep(session: Queryable, step: SetupStep): Promise<StepOutcome> {
  if (step.statement === null) return { step, result: 'unchanged', reason: null };
  try {
    await session.query(step.statement);
    return { step, result: 'done', reason: null };
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.kind !== 'statement') throw error;
    return { step, result: 'refused', reason: refusalReason(error) };
  }
}

function refusalReason(error: DatabaseError): string {
  const detail = error.detail === null ? '' : `: ${error.detail.replaceAll('\n', '; ')}`;
  return `${error.primary}${detail}`;
}
