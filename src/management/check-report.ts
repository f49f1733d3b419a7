/** What `GET /check` answers: the findings of `pgreflect check`. */
import { about, listOf, named, objectOf, oneOf, orNull, text, type ValueOf } from '../shared/schema.ts';

const finding = named(
  'Finding',
  objectOf({
    check: about(text, 'Its kind, as `pgreflect check --only` takes it.'),
    severity: about(
      oneOf('error', 'warning', 'note'),
      '`error`: breaks the API or allows visitors what cannot be intended; `warning`: may be intended; `note`: information.',
    ),
    object: about(orNull(text), 'The SQL name of its role, table, routine or policy; null: the database.'),
    message: text,
    fix: about(orNull(text), 'SQL. Lines that begin with `--` are what a person must decide.'),
    command: about(orNull(text), 'In place of SQL: what to type in a shell, or which option to set.'),
  }),
);

/** The findings of a moment. */
export const checkReport = named(
  'CheckReport',
  objectOf({ checkedAt: about(text, { format: 'date-time' }), findings: listOf(finding) }),
);

/** The same. */
export type CheckReport = ValueOf<typeof checkReport>;

type FoundFinding = Omit<ValueOf<typeof finding>, 'command'> & { readonly command?: string };

/** What was found, and when. */
export interface Checked {
  readonly findings: readonly FoundFinding[];
  /** Milliseconds since the epoch. */
  readonly checkedAt: number;
}

/** As the answer has it. */
export function toReport({ findings, checkedAt }: Checked): CheckReport {
  const one = ({ check, severity, object, message, fix, command }: FoundFinding) => ({
    check,
    severity,
    object,
    message,
    fix,
    command: command ?? null,
  });
  return { checkedAt: new Date(checkedAt).toISOString(), findings: findings.map(one) };
}
