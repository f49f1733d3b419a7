/** Roles that may select columns of a table, but not its key: rows are ordered by that. */
import { quoteName, quotePath } from '../graphql/catalog/quote-name.ts';
import type { Finding, RoleModel } from './finding.ts';

/** The findings, one for the roles that lack the same columns. @param models Of all API roles, the service role too. */
export function findUnreadKeys(models: readonly RoleModel[]): readonly Finding[] {
  const lacks = models.flatMap(({ role, model }) =>
    [...model.tables.values()].flatMap(({ namespace, name, primaryKey, columns }) => {
      const unread = primaryKey.flatMap(
        (number) => columns.find((each) => each.number === number && !each.selectable) ?? [],
      );
      if (unread.length === 0) return [];
      return [
        {
          role: quoteName(role),
          name: quotePath(namespace, name),
          lacked: unread.map((each) => quoteName(each.name)).join(', '),
        },
      ];
    }),
  );
  const groups = Map.groupBy(lacks, ({ name, lacked }) => `${name} ${lacked}`);
  return [...groups.values()].map((group): Finding => {
    const { name, lacked } = group[0]!;
    const grantees = group.map(({ role }) => role).join(', ');
    return {
      check: 'grant_incomplete',
      severity: 'warning',
      object: name,
      message: `${grantees} may select columns of ${name}, but not of its key (${lacked}), by which rows are ordered: its collection fails.`,
      fix: `grant select (${lacked}) on ${name} to ${grantees};`,
    };
  });
}
