/** The comments of a catalog with their directives, by object. */
import { mapInSlices, type Sliced } from '../../shared/slices.ts';
import type { CommentedObject } from './catalog.ts';
import { type CommentDirective, parseCommentDirective } from './comment-directive.ts';

/** A row of sql/catalog.sql. */
export interface DescriptionRow {
  /** Name of the catalog with the commented object. */
  readonly catalog: string;
  readonly objoid: string;
  readonly objsubid: number;
  readonly description: string;
}

/** A comment with the directive in it. */
interface Comment {
  readonly text: string;
  readonly directive: CommentDirective;
}

/** By kind of the object, then by oid and column; 0 for the object itself. */
export type Comments = ReadonlyMap<CommentedObject, ReadonlyMap<string, ReadonlyMap<number, Comment>>>;

const commentedCatalogs: Readonly<Record<string, CommentedObject>> = {
  pg_namespace: 'namespace',
  pg_class: 'table',
  pg_constraint: 'constraint',
  pg_proc: 'routine',
  pg_type: 'type',
};

/** The comments of these rows and the ones before, of which those of the same objects are replaced. */
export function* readComments(rows: readonly DescriptionRow[], before: Comments): Sliced<Comments> {
  const read = yield* mapInSlices(rows, ({ catalog, objoid: oid, objsubid: column, description: text }) => {
    const kind = catalog === 'pg_class' && column > 0 ? 'column' : commentedCatalogs[catalog]!;
    return { kind, oid, column, comment: { text, directive: parseCommentDirective(text) } };
  });
  const comments = new Map(before);
  for (const [kind, of] of Map.groupBy(read, (row) => row.kind)) {
    const objects = Map.groupBy(of, ({ oid }) => oid);
    const own = [...objects].map(
      ([oid, rowsOfIt]) => [oid, new Map(rowsOfIt.map(({ column, comment }) => [column, comment]))] as const,
    );
    comments.set(kind, new Map([...(before.get(kind) ?? []), ...own]));
  }
  return comments;
}
