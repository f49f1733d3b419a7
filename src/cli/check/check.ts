/** `pgreflect check`: connects, and reports what src/check finds. */
import { type CheckOptions, findFindings } from '../../check/find-findings.ts';
import { type Finding, type FindingKind, findingKinds } from '../../check/finding.ts';
import { loadOptionsOrThrow } from '../../config/load-options.ts';
import { nearestName } from '../../config/nearest-name.ts';
import { readCatalog } from '../../graphql/catalog/read-catalog.ts';
import { type Command, type CommandContext, failCommand, flagText } from '../shared/command.ts';
import { databaseUrlFor, readCatalogFor } from '../shared/read-model.ts';
import { commandLine } from '../shared/typed-options.ts';
import { withDatabase } from '../shared/with-database.ts';
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
  const asked = { ...values, databaseUrl, anonRole, authenticatedRole, serviceRole, allowedRoles } as CheckOptions;
  return report(await withDatabase(databaseUrl, (pool) => findFindings(pool, asked, isChosen)));

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
