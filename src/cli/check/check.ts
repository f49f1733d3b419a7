/**
 * `pgreflect check`: connects, inspects the API, its protection and its future speed, and reports problems and hints,
 * each with SQL that fixes it. Changes nothing.
 */
import pluralize from 'pluralize';
import { loadOptionsOrThrow } from '../../config/load-options.ts';
import { nearestName } from '../../config/nearest-name.ts';
import { extraSchemas } from '../../graphql/catalog/catalog.ts';
import { readCatalog } from '../../graphql/catalog/read-catalog.ts';
import { DatabaseError } from '../../postgres/database-error.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { type Command, type CommandContext, failCommand, flagText } from '../shared/command.ts';
import { databaseUrlFor, readCatalogFor } from '../shared/read-model.ts';
import { findProblems } from '../shared/startup-checks.ts';
import { commandLine } from '../shared/typed-options.ts';
import { withDatabase } from '../shared/with-database.ts';
import { buildModels, checkModels, checkTrigger, describeSetup, ignoredByComments } from './check-api.ts';
import { findUnrecordedTables } from './check-change-triggers.ts';
import { checkDirectives, findSmartComments } from './check-directives.ts';
import { describeEngine } from './check-engine.ts';
import { findMissingLiveValues } from './check-live.ts';
import { securityChecks } from './check-security.ts';
import { findSequencesBehind } from './check-sequences.ts';
import { speedChecks } from './check-speed.ts';
import { proposeViewKeys, readKeyedViews } from './check-view-keys.ts';
import {
  type CheckScope,
  type Checks,
  type Finding,
  type FindingKind,
  findingKinds,
  type RoleModel,
  type Severity,
} from './finding.ts';
import { mergeIndexes, mergePartitions, readPartitions } from './merge-findings.ts';
import { findMissingGrants } from './missing-grants.ts';
import { isAboutReached } from './reached-objects.ts';
import { formats } from './report.ts';

/** The command `pgreflect check`. */
export const check: Command = {
  flags: [
    { flag: 'only', placeholder: 'KINDS', doc: 'Report these kinds of findings alone, separated by commas.' },
    {
      flag: 'documents',
      placeholder: 'PATH',
      doc: 'Check the documents of this folder, file or manifest, and nothing else.',
    },
    { flag: 'role', placeholder: 'ROLE', doc: 'With --documents: check them for this role alone.' },
    { flag: 'ignore', placeholder: 'KINDS', doc: 'Leave these kinds out.' },
    {
      flag: 'format',
      placeholder: 'text|json|sarif',
      doc: 'Print the report for people (default), programs or code hosts.',
    },
  ],
  notes: `A local project running in the working directory needs no --database-url. Exits with 1 if there is an error; warnings and notes do not count. Read-only.
One object is left out of one kind by its comment: @graphql({"ignore": ["row_security_off"]}).

Examples:
  pgreflect check --database-url postgresql://authenticator:PASSWORD@localhost:5432/shop
  pgreflect check --documents src --role authenticated
  pgreflect check --only row_security_off,write_unguarded
  pgreflect check --format sarif > report.sarif      # in CI`,
  run: runCheck,
};

const severities: readonly Severity[] = ['error', 'warning', 'note'];

const names = [
  'databaseUrl',
  'schemas',
  'extraSearchPath',
  'extensions',
  'anonRole',
  'authenticatedRole',
  'serviceRole',
  'allowedRoles',
  'loginRole',
  'liveClaims',
  'liveHeaders',
  'variablePositions',
] as const;

async function runCheck(context: CommandContext): Promise<number> {
  const print = formats.get(flagText(context, 'format') ?? 'text');
  if (print === undefined) failCommand('--format is none of text, json, sarif.');
  const [only, ignored] = [kindsOf(context, 'only'), kindsOf(context, 'ignore')];
  // That something was not looked at is told whatever is asked for.
  const isChosen = (kind: FindingKind) =>
    (kind === 'not_checked' || (only?.includes(kind) ?? true)) && ignored?.includes(kind) !== true;
  const { values } = loadOptionsOrThrow(names, context.sources);
  const databaseUrl = databaseUrlFor(values.databaseUrl, context);
  const [anonRole, authenticatedRole, serviceRole] = [values.anonRole!, values.authenticatedRole!, values.serviceRole!];
  const usual = [anonRole, authenticatedRole, serviceRole];
  const { schemas } = values;
  const allowedRoles = values.allowedRoles ?? usual;
  const roles = [...new Set([...usual, ...(allowedRoles === '*' ? [] : allowedRoles)])];
  const [path, role] = [flagText(context, 'documents'), flagText(context, 'role')];
  if (path === null && role !== null)
    failCommand('--role is for --documents alone.', 'pgreflect check --documents PATH');
  if (path !== null) {
    const { readTypedDocuments, checkDocuments } = await loadDocumentChecks();
    const parsed = readTypedDocuments(context, path);
    const findings = await withDatabase(databaseUrl, async (pool) => {
      const catalog = role === null ? await readCatalog(pool, schemas) : await readCatalogFor(pool, schemas, role);
      const callers = roles.filter((one) => one !== serviceRole && catalog.roles.has(one));
      return checkDocuments(catalog, parsed, {
        roles: role === null ? callers : [role],
        extensions: values.extensions!,
        strictVariablePositions: values.variablePositions === 'strict',
      });
    });
    return report(findings.filter(({ check: kind }) => isChosen(kind)));
  }
  const { findings, isReached } = await withDatabase(databaseUrl, async (pool) => {
    const asked = { databaseUrl, schemas, anonRole, authenticatedRole, serviceRole, allowedRoles };
    const setup = await findProblems(pool, asked);
    const catalog = await readCatalog(pool, schemas);
    const callers = roles.filter((role) => role !== serviceRole);
    const models = buildModels(catalog, { roles, extensions: values.extensions! });
    const scope = {
      catalog,
      schemas: catalog.namespaces.map(({ nspname }) => nspname),
      extraSchemas: extraSchemas(catalog, values.extraSearchPath),
      roles: callers,
      serviceRole,
      loginRole: values.loginRole!,
      live: { claims: values.liveClaims!, headers: values.liveHeaders! },
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
    return { findings: found, isReached: isAboutReached(catalog, scope.roles) };
  });
  const chosen = mergeIndexes(findings.filter(({ check: kind }) => isChosen(kind)));
  const [reached, others] = [chosen.filter(isReached), chosen.filter((finding) => !isReached(finding))];
  return report(
    severities.flatMap((severity) => [...reached, ...others].filter((finding) => finding.severity === severity)),
  );

  function report(all: readonly Finding[]): number {
    context.print(print!(all, commandLine('check', context)));
    return all.some(({ severity }) => severity === 'error') ? 1 : 0;
  }
}

/** They bring GraphQL, which takes longer to load than the rest of the command. */
async function loadDocumentChecks() {
  const { readTypedDocuments } = await import('../shared/typed-documents.ts');
  const { checkDocuments } = await import('./check-documents.ts');
  return { readTypedDocuments, checkDocuments };
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

/** The kinds named by a flag; null without it. Refuses unknown ones: a typo would make a check pass in CI. */
function kindsOf(context: CommandContext, flag: 'only' | 'ignore'): readonly string[] | null {
  const kinds = flagText(context, flag)
    ?.split(',')
    .map((kind) => kind.trim());
  for (const kind of kinds ?? []) {
    if ((findingKinds as readonly string[]).includes(kind)) continue;
    const nearest = nearestName(kind, findingKinds);
    failCommand(
      `--${flag} names the kind "${kind}", which does not exist${nearest === null ? '' : `; "${nearest}" does`}.`,
      `There are: ${findingKinds.join(', ')}`,
    );
  }
  return kinds ?? null;
}
