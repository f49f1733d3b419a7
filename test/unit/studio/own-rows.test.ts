/** Whose rows are, in schemas with many policies: the page Access asks that for each policy that it shows. */
import { expect, test } from 'vitest';
import type { AccessOverview, AccessTable } from '../../../src/management/access/access-schemas.ts';
import { policyChanges } from '../../../src/studio/app/pages/access/policy-changes.ts';

const right = { rows: 'some', policies: ['p0'] } as const;

test('each policy of a schema is read a few times, however many are shown', () => {
  let reads = 0;
  const role = { name: 'authenticated', object: 'authenticated', bypassesRowSecurity: false };
  const rights = [
    { role: role.name, isExempt: false, select: right, insert: right, update: right, delete: right },
  ] as const;
  const tables = Array.from({ length: 60 }, (_, number): AccessTable => {
    const policies = Array.from({ length: 20 }, (_policy, index) => ({
      name: `p${index}`,
      command: 'select' as const,
      isPermissive: true,
      roles: [role.name, 'anon'],
      get using() {
        reads += 1;
        return `(note <> 'x' AND team_id = ( SELECT current_team()))`;
      },
      check: null,
    }));
    return {
      schema: 'public',
      name: `t${number}`,
      object: `public.t${number}`,
      kind: 'table',
      owner: 'postgres',
      columns: ['id', 'team_id', 'thing', 'note'],
      key: ['id'],
      uuidColumns: ['id', 'team_id', 'thing'],
      indexedColumns: ['id'],
      otherGrantees: [],
      references: [{ column: 'team_id', object: `public.t${(number + 1) % 60}`, key: 'id' }],
      rowSecurity: true,
      isForced: false,
      runsAs: null,
      ownerBypasses: false,
      rights,
      policies,
    };
  });
  const overview: AccessOverview = { roles: [role], tables, functions: [] };
  const [table] = tables;
  const of = { overview, table: table!, role, anon: 'anon', changes: [] };
  for (const policy of table!.policies) expect(policyChanges(of, policy)).toHaveLength(2);
  expect(reads).toBeLessThan(3 * 60 * 20);
});
