/** Findings of `pgreflect check`: one format for all checks, printed as text or JSON. */
import type { Catalog } from '../graphql/catalog/catalog.ts';
import type { Model } from '../graphql/model/model.ts';
import type { Omission } from '../graphql/model/model-context.ts';
import type { Queryable } from '../postgres/system/queryable.ts';
import { loadSqlFile } from '../postgres/system/sql-file.ts';

/**
 * `error`: breaks the API or allows visitors what cannot be intended. `warning`: may be intended. `note`: information.
 */
export const severities = ['error', 'warning', 'note'] as const;

/** One of them. */
export type Severity = (typeof severities)[number];

/** Kinds of findings: stable names, for programs that read the report. */
export const findingKinds = [
  'setup', 'directive_malformed', 'directive_key', 'directive_value', 'directive_column', 'smart_comment', 'not_granted', 'read_only', 'left_out',
  'usage_missing', 'role_summary', 'trigger_missing', 'change_trigger_missing', 'key_not_unique', 'key_not_measured', 'row_security_passed', 'row_security_off',
  'view_runs_as_owner', 'view_without_barrier', 'write_unguarded', 'grant_beyond_rows', 'grant_without_policy', 'grant_to_everybody', 'grant_incomplete', 'policy_missing',
  'default_grant', 'schema_open', 'definer_search_path', 'definer_callable', 'foreign_key_unindexed', 'sequence_behind', 'policy_column_unindexed',
  'policy_call_per_row', 'contents_unindexed', 'index_behind_policy', 'many_to_many_missing', 'view_unreadable',
  'role_member', 'engine', 'extension_off_path', 'live_claim_missing', 'live_header_missing', 'not_served', 'not_checked', 'document_invalid',
] as const; // biome-ignore format: a list of names

/** A kind of findings. */
export type FindingKind = (typeof findingKinds)[number];

/** One line of the report. */
export interface Finding {
  readonly check: FindingKind;
  readonly severity: Severity;
  /** The SQL name of its role, table, routine or policy; null: the database. */
  readonly object: string | null;
  /** One sentence. */
  readonly message: string;
  /**
   * The SQL that fixes it; null if there is none. Lines that begin with `--` are what a person must decide: other choices,
   * or what is needed as well.
   */
  readonly fix: string | null;
  /** Of a document, where it is in a file. */
  readonly place?: { readonly file: string; readonly line: number; readonly column: number };
  /** In place of SQL: what to type in a shell, or which option to set. */
  readonly command?: string;
}

/** What a role sees, and what is left out. */
export interface RoleModel {
  readonly role: string;
  readonly model: Model;
  readonly omissions: readonly Omission[];
}

/** The scope of a check. */
export interface CheckScope {
  /** Has an empty search path, so that PostgreSQL prints every name with its schema. */
  readonly tx: Queryable;
  readonly catalog: Catalog;
  /** Exposed schemas that exist. */
  readonly schemas: readonly string[];
  /** Schemas on the search path of requests after these. */
  readonly extraSchemas: readonly string[];
  /** API roles except the service role; the visitors' first. */
  readonly roles: readonly string[];
  readonly serviceRole: string;
  /** The login of the gateway that `init` makes. */
  readonly loginRole: string;
  /** The claims and headers that live queries pass on. */
  readonly live: Readonly<Record<'claims' | 'headers', readonly string[] | '*'>>;
  /** What these roles see. */
  readonly models: readonly RoleModel[];
}

/** One check: queries the database, changes nothing. @throws DatabaseError */
export type Check = (scope: CheckScope) => Promise<readonly Finding[]>;

/** Checks, and the kinds of findings that each may have. */
export type Checks = readonly (readonly [find: Check, ...kinds: readonly FindingKind[]])[];

type ResultRow = Awaited<ReturnType<Queryable['query']>>[number];

/** A check that runs a statement of `sql/` with one row per finding, including the column `fix`. */
export function statementCheck(
  file: string,
  describe: (row: ResultRow) => Omit<Finding, 'fix'>,
  parameters: (scope: CheckScope) => readonly unknown[] = ({ schemas, roles }) => [schemas, roles],
): Check {
  return async (scope) => {
    const rows = await scope.tx.query(loadSqlFile(file), parameters(scope));
    return rows.map((row) => ({ ...describe(row), fix: asStatement(row.fix) }));
  };
}

/** A statement for printing, with one semicolon; null stays null. */
export function asStatement(fix: unknown): string | null {
  return fix === null ? null : withSemicolon(String(fix));
}

function withSemicolon(statement: string): string {
  return statement.endsWith(';') ? statement : `${statement};`;
}

/** What a person must decide: a sentence, and the statements that it is about. */
export function remark(sentence: string, ...statements: readonly string[]): string {
  const lines = [sentence, ...statements.map(withSemicolon)].join('\n');
  return lines.replaceAll(/^/gm, '-- ');
}

/** The first names of a list, for a sentence. */
export function firstOf(names: readonly string[]): string {
  const rest = names.length - 3;
  return `${names.slice(0, 3).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
