/** Finds tables that live queries may read and whose changes are not recorded, where `init --live` was run. */
import { hasLive, planTriggers } from './change-triggers.ts';
import { asStatement, type Check } from './finding.ts';

/** Tables without their trigger. */
export const findUnrecordedTables: Check = async ({ tx, schemas }) => {
  if (!(await hasLive(tx))) return [];
  const steps = await planTriggers(tx, schemas);
  return steps.flatMap(({ table, statement }) =>
    statement === null
      ? []
      : [
          {
            check: 'change_trigger_missing',
            severity: 'note',
            object: table,
            message: `Changes of ${table} are not recorded: live queries that read it run at --live-interval-ms.`,
            fix: asStatement(statement),
            command: 'pgreflect init --live',
          } as const,
        ],
  );
};
