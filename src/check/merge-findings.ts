/**
 * Merges findings: those about the partitions of a table, and those that one index ends. Foreign keys and policies often
 * need the same column, and two equal indexes cost every write twice.
 */
import pluralize from 'pluralize';
import type { Queryable } from '../postgres/system/queryable.ts';
import type { Finding } from './finding.ts';

/** Maps each partition, and the table itself, to its partitioned table, by SQL names. */
export async function readPartitions(
  database: Queryable,
  schemas: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await database.query(
    `select pg_catalog.format('%I.%I', n.nspname, c.relname) as part, pg_catalog.format('%I.%I', rn.nspname, r.relname) as root
     from pg_catalog.pg_class c
     join pg_catalog.pg_namespace n on n.oid operator(pg_catalog.=) c.relnamespace
     join pg_catalog.pg_class r on r.oid operator(pg_catalog.=) pg_catalog.pg_partition_root(c.oid)
     join pg_catalog.pg_namespace rn on rn.oid operator(pg_catalog.=) r.relnamespace
     where c.relispartition and n.nspname operator(pg_catalog.=) any ($1::pg_catalog.text[])`,
    [schemas],
  );
  return new Map(rows.flatMap(({ part, root }) => [part, root].map((table) => [String(table), String(root)])));
}

/** The findings; those of one kind about partitions of one table are merged, with SQL that fixes all. */
export function mergePartitions(findings: readonly Finding[], roots: ReadonlyMap<string, string>): readonly Finding[] {
  const groups = Map.groupBy(findings, (finding) => {
    const root = roots.get(finding.object ?? '');
    // Other findings stay alone.
    if (root === undefined) return finding;
    // Do not merge messages that differ in more than the partition's name.
    return `${finding.check} ${finding.severity} ${root} ${finding.message.replaceAll(finding.object!, '')}`;
  });
  return [...groups.values()].map((group) => {
    const root = roots.get(group[0]!.object ?? '');
    if (root === undefined || group.length === 1) return group[0]!;
    const ofRoot = group.filter(({ object }) => object === root);
    const ofPartitions = group.filter(({ object }) => object !== root);
    const [first, ...others] = [...ofRoot, ...ofPartitions];
    const more =
      ofRoot.length > 0
        ? `its ${pluralize('partition', others.length, true)}`
        : `${pluralize('more partition', others.length, true)} of ${root}`;
    const fixes = [first!, ...others].map(({ fix }) => fix);
    return {
      ...first!,
      object: root,
      message: `${first!.message} The same is true of ${more}.`,
      fix: fixes.includes(null) ? null : fixes.join('\n'),
    };
  });
}

const indexed: ReadonlySet<string> = new Set(['foreign_key_unindexed', 'policy_column_unindexed']);

/** Of findings whose indexes begin with the same columns, the most severe one remains, with the longest index. */
export function mergeIndexes(findings: readonly Finding[]): readonly Finding[] {
  const fixes = findings.flatMap(({ check, fix }) => (indexed.has(check) && fix !== null ? [fix] : []));
  const ofTables = Map.groupBy(new Set(fixes), tableOf);
  const groups = Map.groupBy(findings, (finding) => {
    const { check, fix } = finding;
    if (!indexed.has(check) || fix === null) return finding;
    const servants = ofTables.get(tableOf(fix))!.filter((other) => serves(other, fix));
    return servants.toSorted((one, other) => other.length - one.length)[0]!;
  });
  return [...groups].map(([index, group]) => {
    const first = group.find(({ severity }) => severity === 'warning') ?? group[0]!;
    if (typeof index !== 'string') return first;
    const sentences = new Set([first, ...group].map(({ message }) => message));
    return { ...first, message: [...sentences].join(' '), fix: index };
  });
}

/** The statement up to the columns. */
function tableOf(index: string): string {
  return index.slice(0, index.lastIndexOf(' ('));
}

/** Whether the index begins with the columns of the other one, by the statements that create them. */
function serves(index: string, other: string): boolean {
  return index === other || index.startsWith(`${other.slice(0, -');'.length)}, `);
}
