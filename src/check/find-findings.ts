/**
 * Inspects an API, its protection and its future speed: problems and hints, each with SQL that fixes it. Changes nothing.
 */
import pluralize from 'pluralize';
import type { Config } from '../config/config.ts';
import { extraSchemas } from '../graphql/catalog/catalog.ts';
import { readCatalog } from '../graphql/catalog/read-catalog.ts';
import { DatabaseError } from '../postgres/database-error.ts';
import type { Queryable } from '../postgres/system/queryable.ts';
import type { SystemPool } from '../postgres/system/run-system.ts';
import { buildModels, checkModels, checkTrigger, describeSetup, ignoredByComments } from './check-api.ts';
import { findUnrecordedTables } from './check-change-triggers.ts';
import { checkDirectives, findSmartComments } from './check-directives.ts';
import { describeEngine } from './check-engine.ts';
import { findUnreadKeys } from './check-keys.ts';
import { findMissingLiveValues } from './check-live.ts';
import { securityChecks } from './check-security.ts';
import { findSequencesBehind } from './check-sequences.ts';
import { speedChecks } from './check-speed.ts';
import { proposeViewKeys, readKeyedViews } from './check-view-keys.ts';
import { type CheckScope, type Checks, type Finding, type FindingKind, type RoleModel, severities } from './finding.ts';
import { mergeIndexes, mergePartitions, readPartitions } from './merge-findings.ts';
import { findMissingGrants } from './missing-grants.ts';
import { isAboutReached } from './reached-objects.ts';
import { findProblems } from './startup-checks.ts';

/** What is checked. */
export interface CheckOptions
  extends Pick<
    Config,
    | 'databaseUrl'
    | 'schemas'
    | 'extraSearchPath'
    | 'extensions'
    | 'anonRole'
    | 'authenticatedRole'
    | 'serviceRole'
    | 'allowedRoles'
    | 'liveClaims'
    | 'liveHeaders'
  > {
  /** The login of the gateway. */
  readonly loginRole: string;
}

/**
 * All findings, the worst first; of the same weight, those about what callers reach first.
 *
 * @param isChosen Which kinds are wanted.
 * @throws DatabaseError, or ConfigError if the server is not one that the gateway serves
 */
export async function findFindings(
  pool: SystemPool,
  options: CheckOptions,
  isChosen: (kind: FindingKind) => boolean = () => true,
): Promise<readonly Finding[]> {
  const { schemas, anonRole, authenticatedRole, serviceRole, allowedRoles, extensions } = options;
  const usual = [anonRole, authenticatedRole, serviceRole];
  const roles = [...new Set([...usual, ...(allowedRoles === '*' ? [] : allowedRoles)])];
  const setup = await findProblems(pool, options);
  const catalog = await readCatalog(pool, schemas);
  const callers = roles.filter((role) => role !== serviceRole);
  const models = buildModels(catalog, { roles, extensions });
  const scope = {
    catalog,
    schemas: catalog.namespaces.map(({ nspname }) => nspname),
    extraSchemas: extraSchemas(catalog, options.extraSearchPath),
    roles: callers,
    serviceRole,
    loginRole: options.loginRole,
    live: { claims: options.liveClaims, headers: options.liveHeaders },
    models: models.filter(({ role }) => callers.includes(role)),
  };
  const isIgnored = ignoredByComments(catalog);
  const found = [
    ...describeSetup(setup),
    ...checkDirectives(catalog),
    ...findSmartComments(catalog),
    ...(await runChecks(pool, scope, models, isChosen)),
    ...checkTrigger(catalog),
  ].filter((finding) => !isIgnored(finding));
  const isReached = isAboutReached(catalog, callers);
  const chosen = mergeIndexes(found.filter(({ check }) => isChosen(check)));
  const [reached, others] = [chosen.filter(isReached), chosen.filter((finding) => !isReached(finding))];
  return severities.flatMap((severity) => [...reached, ...others].filter((finding) => finding.severity === severity));
}

/** Time limit of a statement, in milliseconds. */
const maxMs = 30_000;

/** Runs all checks at one snapshot, in a read-only transaction. @param models Of all roles, the service role too. */
function runChecks(
  pool: SystemPool,
  scope: Omit<CheckScope, 'tx'>,
  models: readonly RoleModel[],
  isChosen: (kind: FindingKind) => boolean,
): Promise<readonly Finding[]> {
  const { catalog, schemas } = scope;
  return pool.transaction(
    async (tx) => {
      await tx.query(`set local statement_timeout = ${maxMs}`);
      const findings: Finding[] = [];
      const others: Checks = [
        [describeEngine, 'engine'],
        [findSequencesBehind, 'sequence_behind'],
        [findMissingLiveValues, 'live_claim_missing', 'live_header_missing'],
        [findUnrecordedTables, 'change_trigger_missing'],
        [async () => findUnreadKeys(models), 'grant_incomplete'],
        [(inside) => findMissingGrants(inside, models), 'not_granted'],
      ];
      for (const [find, ...all] of [...securityChecks, ...speedChecks, ...others]) {
        const kinds = all.filter(isChosen);
        if (kinds.length > 0) findings.push(...(await findOrTell(() => find({ ...scope, tx }), tx, kinds)));
      }
      findings.push(...checkModels(catalog, models, proposeViewKeys(catalog)));
      const merged = mergePartitions(findings, await readPartitions(tx, schemas));
      return [...merged, ...(await readKeyedViews({ ...scope, tx }, ignoredByComments(catalog)))];
    },
    { begin: 'begin isolation level repeatable read read only' },
  );
}

/**
 * What a check finds. One whose statement PostgreSQL gives up, or whose texts are too long for a pattern, costs its own
 * findings, and is named among the others.
 */
async function findOrTell(
  find: () => Promise<readonly Finding[]>,
  tx: Queryable,
  kinds: readonly FindingKind[],
): Promise<readonly Finding[]> {
  await tx.query('savepoint checked');
  try {
    return await find();
  } catch (error) {
    const isTooLong = error instanceof RangeError;
    if (!isTooLong && (!(error instanceof DatabaseError) || error.kind === 'unavailable')) throw error;
    await tx.query('rollback to savepoint checked');
    const reason = isTooLong ? 'a definition in the database is too long to read' : error.primary;
    const message = `Findings of the ${pluralize('kind', kinds.length)} ${kinds.join(', ')} are missing: ${reason}.`;
    return [{ check: 'not_checked', severity: 'error', object: null, message, fix: null }];
  }
}
