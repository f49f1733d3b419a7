/** The documents of clients that a command was given. */
import type { GraphQLSchema } from 'graphql';
import {
  type DocumentMistake,
  type ParsedDocuments,
  parseDocuments,
  validateDocuments,
} from '../../graphql/documents/parse-documents.ts';
import { printDocumentsOf, readDocuments } from '../../graphql/documents/read-documents.ts';
import { withoutPauses } from '../../shared/slices.ts';
import { type CommandContext, resolveTypedPath } from './command.ts';

/** Reads and parses the documents of a folder, a file or a manifest. @throws ConfigError if they cannot be read. */
export function readTypedDocuments(context: CommandContext, typed: string): ParsedDocuments {
  return withoutPauses(parseDocuments(withoutPauses(readDocuments(resolveTypedPath(context, typed), typed))));
}

/** Changes where the documents may have changed. @throws ConfigError as above. */
export function printOfTyped(context: CommandContext, typed: string): string {
  return withoutPauses(printDocumentsOf(resolveTypedPath(context, typed)));
}

/** What of the documents does not parse, or does not fit a role's schema. */
export function findMistakes(
  schema: GraphQLSchema,
  { documents, mistakes }: ParsedDocuments,
  options = { strictVariablePositions: false },
): readonly DocumentMistake[] {
  const ofSchema = withoutPauses(validateDocuments(schema, documents, options));
  return [...mistakes, ...ofSchema];
}
