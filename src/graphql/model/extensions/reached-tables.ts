/** The tables that relationships lead to, by what the relationships are used for: found in one pass, because each is needed for types of tables. */
import { type Sliced, sliceIsOver } from '../../../shared/slices.ts';
import type { Relationship, Table } from '../model.ts';

type Flag = 'filterable' | 'orderable' | 'insertable' | 'updatable';

/** Oids of tables, by entry and cardinality of a relationship that leads there. */
export type ReachedTables = Readonly<Record<Flag, Readonly<Record<Relationship['cardinality'], ReadonlySet<string>>>>>;

/** Finds them. */
export function* findReachedTables(tables: Iterable<Table>): Sliced<ReachedTables> {
  const none = () => ({ one: new Set<string>(), many: new Set<string>() });
  const reached = { filterable: none(), orderable: none(), insertable: none(), updatable: none() };
  for (const { relationships } of tables) {
    if (sliceIsOver()) yield;
    for (const { target, cardinality, filterable, orderable, insertable, updatable } of relationships) {
      if (filterable) reached.filterable[cardinality].add(target);
      if (orderable) reached.orderable[cardinality].add(target);
      if (insertable) reached.insertable[cardinality].add(target);
      if (updatable) reached.updatable[cardinality].add(target);
    }
  }
  return reached;
}
