/**
 * Merges findings that one index ends: foreign keys and policies often need the same column, and two equal indexes cost
 * every write twice.
 */
import type { Finding } from './finding.ts';

const indexed: ReadonlySet<string> = new Set(['foreign_key_unindexed', 'policy_column_unindexed']);

/**
 * The findings; of several whose indexes begin with the same columns, the most severe one remains, with the longest
 * index and the sentences of all.
 */
export function mergeIndexes(findings: readonly Finding[]): readonly Finding[] {
  const fixes = findings.flatMap(({ check, fix }) => (indexed.has(check) && fix !== null ? [fix] : []));
  const groups = Map.groupBy(findings, (finding) => {
    const { check, fix } = finding;
    if (!indexed.has(check) || fix === null) return finding;
    return fixes.filter((other) => serves(other, fix)).toSorted((one, other) => other.length - one.length)[0]!;
  });
  return [...groups].map(([index, group]) => {
    const first = group.find(({ severity }) => severity === 'warning') ?? group[0]!;
    if (typeof index !== 'string') return first;
    const sentences = new Set([first, ...group].map(({ message }) => message));
    return { ...first, message: [...sentences].join(' '), fix: index };
  });
}

/** Whether the index begins with the columns of the other one, by the statements that create them. */
function serves(index: string, other: string): boolean {
  return index === other || index.startsWith(`${other.slice(0, -');'.length)}, `);
}
