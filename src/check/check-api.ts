/** Checks for the API itself: what prevents serving, what each role sees, and what its schema leaves out and why. */
import pluralize from 'pluralize';
import type { ExtensionName } from '../config/extensions.ts';
import type { Catalog } from '../graphql/catalog/catalog.ts';
import { quoteName } from '../graphql/catalog/quote-name.ts';
import { buildModelParts } from '../graphql/model/build-model.ts';
import type { Model } from '../graphql/model/model.ts';
import { type Omission, pathIn } from '../graphql/model/model-context.ts';
import { asStatement, type Finding, type RoleModel } from './finding.ts';
import { wholesOf } from './reached-objects.ts';
import type { Findings, StartupProblem } from './startup-checks.ts';

/** Problems and warnings of a start. */
export function describeSetup({ problems, warnings }: Findings): readonly Finding[] {
  return [
    ...problems.map((problem) => describeProblem('error', problem)),
    ...warnings.map((problem) => describeProblem('warning', problem)),
  ];
}

function describeProblem(severity: Finding['severity'], { problem, fix, isSql }: StartupProblem): Finding {
  const about = { check: 'setup', severity, object: null, message: problem } as const;
  return fix === null || isSql ? { ...about, fix } : { ...about, fix: null, command: fix };
}

/** The models of the roles that exist. */
export function buildModels(
  catalog: Catalog,
  { roles, extensions }: { readonly roles: readonly string[]; readonly extensions: readonly ExtensionName[] },
): readonly RoleModel[] {
  return roles
    .filter((role) => catalog.roles.has(role))
    .map((role) => ({ role, ...buildModelParts(catalog, { role, extensions }) }));
}

/** What each role sees, what is left out and why; equal sentences once. @param viewKeys As `proposeViewKeys`. */
export function checkModels(
  catalog: Catalog,
  models: readonly RoleModel[],
  viewKeys: ReadonlyMap<string, string | null>,
): readonly Finding[] {
  const findings = [
    ...models.flatMap(({ omissions }) => describeOmissions(omissions, viewKeys)),
    ...describeLinks(models.flatMap(({ omissions }) => omissions)),
    ...findMissingUsage(models, catalog),
    ...models.map(({ role, model }) => describeRole(role, model)),
  ];
  return mergeFixes([...new Map(findings.map((finding) => [finding.message, finding])).values()]);
}

/** One finding for all that an object lacks and that one statement brings. */
function mergeFixes(findings: readonly Finding[]): readonly Finding[] {
  const groups = Map.groupBy(findings, (finding) => {
    const { check, object, fix } = finding;
    return check === 'left_out' && fix !== null ? `${object} ${fix}` : finding;
  });
  return [...groups.values()].map((group) => ({
    ...group[0]!,
    message: group.map(({ message }) => message).join(' '),
  }));
}

const notLeftOut: ReadonlySet<Omission['kind']> = new Set(['directive', 'entrypoint', 'link', 'privilege', 'switch']);

/** Whether `check` reports it as `left_out`: no missing grant, no broken directive, no feature that one must enable. */
export function isLeftOut({ kind }: Pick<Omission, 'kind'>): boolean {
  return !notLeftOut.has(kind);
}

/** Features that a directive must enable do not count as left out; missing grants are described elsewhere. */
function describeOmissions(
  omissions: readonly Omission[],
  viewKeys: ReadonlyMap<string, string | null>,
): readonly Finding[] {
  return omissions
    .filter((omission) => isLeftOut(omission) || omission.kind === 'entrypoint' || omission.kind === 'directive')
    .map(({ kind, object, reason, fix }): Finding => {
      if (kind === 'directive') {
        const message = `${reason} Every request gets an error until it is corrected.`;
        return { check: 'directive_malformed', severity: 'error', object, message, fix };
      }
      if (kind === 'entrypoint') return { check: 'read_only', severity: 'note', object, message: reason, fix: null };
      const key = kind === 'key' ? viewKeys.get(object) : undefined;
      return { check: 'left_out', severity: 'warning', object, message: reason, fix: key ?? asStatement(fix) };
    });
}

/** Junction tables that could link two tables, each once; of several roles, the result that needs most names. */
function describeLinks(omissions: readonly Omission[]): readonly Finding[] {
  const links = omissions.filter(({ kind }) => kind === 'link');
  const lengthOf = ({ fix }: Omission) => fix?.length ?? 0;
  return [...Map.groupBy(links, ({ object }) => object).values()].map((ofTable): Finding => {
    const { object, reason, fix } = ofTable.reduce((one, other) => (lengthOf(other) > lengthOf(one) ? other : one));
    return { check: 'many_to_many_missing', severity: 'note', object, message: reason, fix };
  });
}

/** Where another role has an API, the lack is meant in most cases: many projects take `public` from visitors. */
function findMissingUsage(models: readonly RoleModel[], catalog: Catalog): readonly Finding[] {
  const schemas = catalog.namespaces.map(({ nspname }) => quoteName(nspname)).join(', ');
  const without = models.filter(({ model }) => model.namespaces.length === 0);
  return without.map(({ role }): Finding => {
    const about = { check: 'usage_missing', object: role } as const;
    const message = `Role "${role}" has no usage on any exposed schema, so its API is empty.`;
    const grant = schemas === '' ? null : `grant usage on schema ${schemas} to ${quoteName(role)};`;
    if (without.length === models.length || grant === null)
      return { ...about, severity: 'warning', message, fix: grant };
    return { ...about, severity: 'note', message, fix: `-- Where it is meant to have one:\n-- ${grant}` };
  });
}

function describeRole(role: string, model: Model): Finding {
  const about = { check: 'role_summary', severity: 'note', object: role, fix: null } as const;
  if (model.directiveError !== null) {
    const message = `Role "${role}" gets an error for every request, because of malformed comment directives.`;
    return { ...about, message };
  }
  return { ...about, message: summarizeRole(role, model) };
}

/** What a role may do, in numbers: a sentence for operators. */
export function summarizeRole(role: string, model: Model): string {
  const tables = [...model.tables.values()];
  const number = (key: 'insert' | 'update' | 'delete') =>
    [...tables, ...model.writeOnly].filter((table) => table[key]).length;
  const functions = [...model.routines.values()].filter(({ use }) => use !== 'computed').length;
  return (
    `Role "${role}" reads ${pluralize('table', tables.length, true)}, inserts into ${number('insert')}, updates ${number('update')}, ` +
    `deletes from ${number('delete')}, and calls ${pluralize('function', functions, true)}.`
  );
}

/** Whether the comment of a finding's object, or of its table or schema, marks this kind as intended. */
export function ignoredByComments(catalog: Catalog): (finding: Pick<Finding, 'check' | 'object'>) => boolean {
  const objects = [
    ...catalog.namespaces.map((row) => [quoteName(row.nspname), 'namespace', row._id] as const),
    ...catalog.tables.map((row) => [pathIn(catalog, row.relnamespace, row.relname), 'table', row._id] as const),
    ...catalog.routines.map((row) => [pathIn(catalog, row.pronamespace, row.proname), 'routine', row._id] as const),
  ];
  const ignored = objects.flatMap(([path, kind, oid]) => {
    const directive = catalog.directive(kind, oid);
    const kinds = directive.kind === 'directive' ? directive.value.ignore : undefined;
    return Array.isArray(kinds) ? kinds.map((check) => `${check} ${path}`) : [];
  });
  const known = new Set(ignored);
  return ({ check, object }) => object !== null && wholesOf(object).some((path) => known.has(`${check} ${path}`));
}

/** Whether database changes are recorded or only found by polling. */
export function checkTrigger({ hasChangeTrigger }: Catalog): readonly Finding[] {
  if (hasChangeTrigger) return [];
  const message = 'The schema-change trigger is not installed. The gateway polls for changes every --schema-poll-ms.';
  const command = 'pgreflect init --watch --database-url CONNECTION_OF_A_SUPERUSER';
  return [{ check: 'trigger_missing', severity: 'note', object: null, message, fix: null, command }];
}
