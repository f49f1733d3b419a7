/** `pgreflect check --documents`: which documents of clients no longer fit the schema of a role, where and why. */
import pluralize from 'pluralize';
import type { Finding } from '../../check/finding.ts';
import type { ExtensionName } from '../../config/extensions.ts';
import type { Catalog } from '../../graphql/catalog/catalog.ts';
import { type DocumentMistake, type ParsedDocuments, printPlace } from '../../graphql/documents/parse-documents.ts';
import { buildModel } from '../../graphql/model/build-model.ts';
import { buildRoleSchema } from '../../graphql/schema/build-schema.ts';
import { failCommand } from '../shared/command.ts';
import { findMistakes } from '../shared/typed-documents.ts';

/** What is checked. */
export interface CheckedDocuments {
  readonly roles: readonly string[];
  readonly extensions: readonly ExtensionName[];
  readonly strictVariablePositions: boolean;
}

/** Each mistake once, with the roles that have it; without any, a note for each role. @throws CommandError for a broken directive. */
export function checkDocuments(
  catalog: Catalog,
  parsed: ParsedDocuments,
  { roles, extensions, strictVariablePositions }: CheckedDocuments,
): readonly Finding[] {
  const found = new Map<string, { readonly mistake: DocumentMistake; readonly roles: string[] }>();
  const summaries: Finding[] = [];
  for (const role of roles) {
    const model = buildModel(catalog, { role, extensions });
    if (model.directiveError !== null) {
      const { object, problem } = model.directiveError;
      failCommand(`The comment directive of ${object} is invalid: ${problem}`, 'pgreflect check lists all of them.');
    }
    const mistakes = findMistakes(buildRoleSchema(model), parsed, { strictVariablePositions });
    for (const mistake of mistakes) {
      const key = JSON.stringify(mistake);
      const known = found.get(key) ?? { mistake, roles: [] };
      known.roles.push(role);
      found.set(key, known);
    }
    summaries.push(summarize(role, parsed));
  }
  const errors = [...found.values()].map(({ mistake, roles: of }) =>
    describe(mistake, of.length < roles.length ? of : null),
  );
  return errors.length > 0 ? errors : summaries;
}

function describe(mistake: DocumentMistake, roles: readonly string[] | null): Finding {
  const { file, id, line, column, message } = mistake;
  const object = printPlace(mistake);
  const ofRoles = roles === null ? '' : ` (${pluralize('role', roles.length)} ${roles.join(', ')})`;
  const about = { check: 'document_invalid', severity: 'error', object, fix: null } as const;
  const text = `${object}: ${message}${ofRoles}`;
  return id === null ? { ...about, message: text, place: { file, line, column } } : { ...about, message: text };
}

function summarize(role: string, { documents }: ParsedDocuments): Finding {
  const message = `Role "${role}" can run ${pluralize('document', documents.length, true)}.`;
  return { check: 'role_summary', severity: 'note', object: role, message, fix: null };
}
