/**
 * Findings of `pgreflect check` about grants that roles lack, one for all objects of which a role lacks the same. A
 * missing grant is often meant, so every statement is left to a person.
 */
import pluralize from 'pluralize';
import { grantStatement } from '../graphql/model/missing-grant.ts';
import { type Grant, type Omission, pathIn } from '../graphql/model/model-context.ts';
import { ignoredByComments } from './check-api.ts';
import { type CheckScope, type Finding, firstOf, type RoleModel, remark } from './finding.ts';

/**
 * What roles lack, with the statements, but none that `definer_callable` or `write_unguarded` refuses. Leaves out objects whose comments say
 * that this is meant.
 *
 * @param models Of all API roles, the service role too.
 */
export async function findMissingGrants(
  { tx, catalog, schemas, roles: [visitor] }: CheckScope,
  models: readonly RoleModel[],
): Promise<readonly Finding[]> {
  const isIgnored = ignoredByComments(catalog);
  const rows = await tx.query(ownersRoutines, [schemas]);
  const ofOwner = new Set(rows.map(({ name }) => String(name)));
  const unguarded = new Set(
    catalog.tables
      .filter(({ relkind, relrowsecurity }) => 'rp'.includes(relkind) && !relrowsecurity)
      .map(({ relnamespace, relname }) => pathIn(catalog, relnamespace, relname)),
  );
  return models.flatMap(({ role, omissions }) => {
    const missing = omissions.filter(({ object }) => !isIgnored({ check: 'not_granted', object }));
    return describeMissingGrants(role, missing, { ofOwner, unguarded, isVisitor: role === visitor });
  });
}

/** Routines that run with the rights of their owner. */
const ownersRoutines = `
  select pg_catalog.format('%I.%I', n.nspname, p.proname) as name
  from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid operator(pg_catalog.=) p.pronamespace
  where p.prosecdef and n.nspname operator(pg_catalog.=) any ($1::pg_catalog.text[])`;

interface Owners {
  readonly ofOwner: ReadonlySet<string>;
  readonly unguarded: ReadonlySet<string>;
  /** `definer_callable` and `write_unguarded` refuse such grants to the visitors' role. */
  readonly isVisitor: boolean;
}

/** What a role lacks on one object, and for what. */
interface Lack {
  readonly role: string;
  readonly grant: Grant;
  /** The object that is left out: that of the grant, or one that needs it. */
  readonly object: string;
  /** No statement is proposed: the grant would be vain, or visitors are not meant to call it. */
  readonly isClosed: boolean;
  /** A routine, or one of its name, that runs with the rights of its owner. */
  readonly isOwners: boolean;
  /** Visitors could write any row. */
  readonly isUnguarded: boolean;
}

function describeMissingGrants(
  role: string,
  omissions: readonly Omission[],
  { ofOwner, unguarded, isVisitor }: Owners,
): readonly Finding[] {
  const lacks = omissions.flatMap(({ object, grant, fix }): readonly Lack[] => {
    if (grant === undefined) return [];
    const isOwners = grant.on === 'routine' && ofOwner.has(object);
    const isUnguarded =
      isVisitor && grant.on === 'table' && !grant.privileges.startsWith('SELECT') && unguarded.has(grant.name);
    const isClosed = fix === null || (isOwners && isVisitor) || isUnguarded;
    return [{ role, object, grant, isOwners, isUnguarded, isClosed }];
  });
  const unread = new Set(
    lacks.flatMap((lack) => (whatOf(lack) === 'table' && lack.grant.privileges === 'SELECT' ? [lack.object] : [])),
  );
  const kinds = Map.groupBy(
    joinCommands(lacks),
    (lack) =>
      `${whatOf(lack)} ${lack.grant.privileges} ${lack.grant.on === 'schema' ? lack.grant.name : `${lack.isOwners} ${lack.isUnguarded}`}`,
  );
  return [...kinds.values()].map((alike): Finding => {
    // A statement stands in one finding.
    const isRepeated = alike.every((lack) => whatOf(lack) === 'rows' && unread.has(lack.grant.name));
    const about = { check: 'not_granted', severity: 'note', object: role } as const;
    return { ...about, message: describeLacks(alike), fix: isRepeated ? null : grantFix(alike) };
  });
}

/** @returns `rows` if a function needs them. */
function whatOf({ grant, object }: Lack): 'column' | 'rows' | Grant['on'] {
  if (grant.column !== null) return 'column';
  return grant.on === 'table' && grant.name !== object ? 'rows' : grant.on;
}

/** What is lacked on one table for the same reason is one entry. */
function joinCommands(lacks: readonly Lack[]): readonly Lack[] {
  const ofObjects = Map.groupBy(lacks, (lack) =>
    lack.grant.on === 'table' && lack.grant.column === null ? `${lack.object} ${lack.grant.name}` : lack,
  );
  return [...ofObjects.values()].map((ofObject) => {
    const [first] = ofObject;
    const privileges = [...new Set(ofObject.map(({ grant }) => grant.privileges))].join(', ');
    return { ...first!, grant: { ...first!.grant, privileges } };
  });
}

function describeLacks(lacks: readonly Lack[]): string {
  const [first] = lacks as readonly [Lack, ...Lack[]];
  const { role, grant } = first;
  const objects = [...new Set(lacks.map((lack) => lack.object))];
  const names = firstOf(objects);
  const number = (noun: string) =>
    objects.length === 1 ? names : `${pluralize(noun, objects.length, true)}: ${names}`;
  const has = `Role "${role}" has no ${grant.privileges.replace(/, (?=\w+$)/, ' or ')}`;
  const what = whatOf(first);
  if (what === 'rows') return `Role "${role}" may not select the rows that these functions take or return: ${names}.`;
  if (what === 'schema') return `${has} on schema ${grant.name}, so it does not see ${number('table')}.`;
  const rights = first.isOwners ? `, which ${objects.length === 1 ? 'runs' : 'run'} with the rights of the owner` : '';
  const off = first.isUnguarded ? ', where row security is off' : '';
  return `${has} on ${number(what === 'routine' ? 'function' : what)}${rights}${off}.`;
}

/** Names in one statement, so that its line can be read. */
const namesPerLine = 5;

function grantFix(lacks: readonly Lack[]): string | null {
  const [{ role }] = lacks as readonly [Lack, ...Lack[]];
  const grants = lacks.filter(({ isClosed }) => !isClosed).map(({ grant }) => grant);
  // Columns of one table are one statement, other objects some to a line.
  const perLine = Map.groupBy(grants, ({ name, column }) => (column === null ? '' : name));
  const statements = [...perLine].flatMap(([table, ofLine]) => {
    const unique = [...new Map(ofLine.map((grant) => [`${grant.name} ${grant.column}`, grant])).values()];
    if (table !== '') return [grantStatement(unique, role)];
    return Array.from({ length: Math.ceil(unique.length / namesPerLine) }, (_, at) =>
      grantStatement(unique.slice(at * namesPerLine, (at + 1) * namesPerLine), role),
    );
  });
  if (statements.length === 0) return null;
  // A grant that is missing may be meant so.
  if (lacks[0]!.isOwners) return remark('Where it is meant to do there what the owner may:', ...statements);
  return remark('Where it is meant to reach them, after policies guard the rows:', ...statements);
}
