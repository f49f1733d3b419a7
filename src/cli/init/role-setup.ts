/**
 * Adds the gateway's roles to a database, or removes them: asks PostgreSQL for the missing statements (sql/roles.sql,
 * sql/roles-remove.sql), then runs them one by one.
 *
 * Each statement is independent, so a refused one does not undo the others, and a second run only adds what is missing.
 * A new login role's password is sent as a SCRAM verifier, so that no server log contains it.
 */
import { readExposedNames } from '../../graphql/catalog/read-catalog.ts';
import { DatabaseError } from '../../postgres/database-error.ts';
import { MigrationError } from '../../postgres/migrations/migrate.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { loadSqlFile } from '../../postgres/system/sql-file.ts';
import { CommandError } from '../shared/command.ts';
import { adopting, readHolders, refuseHeld, type WidenedRoles } from './held-roles.ts';
import { makeScramVerifier } from './scram-verifier.ts';

/** The names of the roles. */
export interface RoleNames {
  readonly anon: string;
  readonly authenticated: string;
  readonly service: string;
  readonly login: string;
}

/** The preparation of a database. */
export interface RoleSetup extends RoleNames {
  /** Roles that others may own or act as, and that the operator trusts with them. */
  readonly adoptedRoles: readonly string[];
  /** For a login role to be created; null: without a password. */
  readonly loginPassword: string | null;
  /** Null: the search path. */
  readonly schemas: readonly string[] | null;
  /** Also grant everything on existing and future objects of the schemas. */
  readonly grantDefaults: boolean;
}

/** One step, done or not. */
export interface SetupStep {
  /** A readable name: `role "anon"`. */
  readonly topic: string;
  /** The statement of the step; null if it is done already. */
  readonly statement: string | null;
  /** A sentence about what this login cannot do. */
  readonly advice: string | null;
}

/** The outcome of a step. */
export interface StepOutcome extends SetupStep {
  readonly result: 'done' | 'unchanged' | 'refused';
  /** PostgreSQL's refusal as a sentence; null otherwise. */
  readonly reason: string | null;
}

/** The missing steps, in order. Writes nothing. */
export async function planRoleSetup(database: Queryable, setup: RoleSetup): Promise<readonly SetupStep[]> {
  const { loginPassword, adoptedRoles: _, ...names } = setup;
  const schemas = await readExposedNames(database, setup.schemas);
  return readSteps(database, 'roles.sql', {
    ...names,
    schemas,
    verifier: loginPassword && makeScramVerifier(loginPassword),
  });
}

/** The API roles, which the gateway's login is a member of. */
export function ofApiRoles({ anon, authenticated, service, login, adoptedRoles }: RoleSetup): WidenedRoles {
  return { roles: [anon, authenticated, service, login], adoptedRoles };
}

/** What roles can do without: the right to pass row security, and rights on what this login will create. */
const dispensable = /^alter (role .* bypassrls$|default privileges )/;

/**
 * The missing steps. Where others may act as the roles, because an operator without superuser has made them, a later run gives them
 * nothing more, and says so.
 *
 * @throws CommandError if more is missing, and others may act as the roles.
 */
export async function planUnheldSetup(database: Queryable, setup: RoleSetup): Promise<readonly SetupStep[]> {
  const steps = await planRoleSetup(database, setup);
  const missing = steps.flatMap(({ statement }) => statement ?? []);
  if (missing.length === 0) return steps;
  const widened = ofApiRoles(setup);
  if (!missing.every((statement) => dispensable.test(statement))) {
    await refuseHeld(database, widened);
    return steps;
  }
  const holders = await readHolders(database, widened);
  if (holders.length === 0) return steps;
  const names = holders.map(({ holder }) => `"${holder}"`).join(', ');
  const adopt = `--adopt-role ${adopting([...new Set(holders.flatMap(({ roles }) => roles))])}`;
  return steps.map((step) => {
    if (step.statement === null) return step;
    const advice = `Left out, because ${names} may act as the roles: ${step.statement}; To run it: ${adopt}`;
    return { ...step, statement: null, advice };
  });
}

/** The steps that remove the roles and their privileges. Writes nothing. */
export async function planRoleRemoval(
  database: Queryable,
  names: RoleNames & { readonly auth: string },
): Promise<readonly SetupStep[]> {
  return readSteps(database, 'roles-remove.sql', names);
}

/** The rows of a file of `sql/` that lists missing steps. */
export async function readSteps(database: Queryable, file: string, names: object): Promise<readonly SetupStep[]> {
  const rows = await database.query(loadSqlFile(file), [JSON.stringify(names)]);
  return rows as unknown as readonly SetupStep[];
}

/** Runs a step. A refusal is an outcome; a lost connection throws. @param run False: nothing to do. */
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
  if (error instanceof CommandError) return error.message.replace(/\.$/, '');
  if (!(error instanceof DatabaseError) || error.kind !== 'statement') throw error;
  const detail = error.detail === null ? '' : `: ${error.detail.replaceAll('\n', '; ')}`;
  return `${error.primary}${detail}`;
}
