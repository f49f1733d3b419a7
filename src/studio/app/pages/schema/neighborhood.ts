/** Part of a schema: a table and its neighbors within a few relationships. */
import type { RoleSchema } from '../../shared/role-schema.ts';

/** The drawn part. */
export type DrawnSchema = Pick<RoleSchema, 'tables' | 'relationships'>;

/** @param center Name of a table. @param steps Largest distance in relationships. */
export function neighborhoodOf({ tables, relationships }: DrawnSchema, center: string, steps: number): DrawnSchema {
  const names = new Set([center]);
  for (let step = 0; step < steps; step += 1) {
    const near = relationships.filter(({ from, to }) => names.has(from) || names.has(to));
    for (const { from, to } of near) names.add(from).add(to);
  }
  return {
    tables: tables.filter(({ name }) => names.has(name)),
    relationships: relationships.filter(({ from, to }) => names.has(from) && names.has(to)),
  };
}
