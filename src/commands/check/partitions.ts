/**
 * Merges findings about the partitions of a table into one for the table.
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { plural } from './check-api.ts';
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
        ? `its ${plural(others.length, 'partition')}`
        : `${plural(others.length, 'more partition')} of ${root}`;
    const fixes = [first!, ...others].map(({ fix }) => fix);
    return {
      ...first!,
      object: root,
      message: `${first!.message} The same is true of ${more}.`,
      fix: fixes.includes(null) ? null : fixes.join('\n'),
    };
  });
}
