/** A grant that a role lacks: as an omission of its schema, with the statement that grants it. */
import { quoteName } from '../catalog/quote-name.ts';
import type { Grant, ModelContext, Reason } from './model-context.ts';

/** @param reason A sentence for operators. */
export function missingGrant({ role }: Pick<ModelContext, 'role'>, grant: Grant, reason: string): Reason {
  return { kind: 'privilege', reason, fix: grantStatement([grant], role), grant };
}

const kindsInSql = { table: '', routine: 'routine ', schema: 'schema ', type: 'type ' } as const;

/** One statement for grants of one privilege, or of one table's columns, to a role. */
export function grantStatement(grants: readonly Grant[], role: string): string {
  const { privileges, on, column } = grants[0]!;
  const columns = column === null ? '' : ` (${grants.map((grant) => quoteName(grant.column!)).join(', ')})`;
  const names = [...new Set(grants.map(({ name }) => name))].join(', ');
  return `grant ${privileges.toLowerCase()}${columns} on ${kindsInSql[on]}${names} to ${quoteName(role)};`;
}
