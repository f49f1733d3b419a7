/**
 * What a role does not see, why, and the statement that would change it. The studio runs none of them.
 */
import { CopyButton } from '../../components/copy-button.tsx';
import type { Missing, RoleSchema } from './role-schema.ts';

/** Reasons with their fixes. */
export function MissingList({ missing }: { readonly missing: readonly Missing[] }) {
  return (
    <ul className="missing-list">
      {missing.map(({ object, reason, fix }) => (
        <li key={`${object} ${reason}`}>
          <p>{reason}</p>
          {fix !== null && (
            <div className="fix">
              <code>{fix}</code>
              <CopyButton text={fix} what={fix} />
            </div>
          )}
        </li>
      ))}
    </ul>
  );
}

interface Group {
  readonly title: string;
  readonly note: string;
  readonly isPart: (missing: Missing, tables: ReadonlySet<string>) => boolean;
}

const ofKind = (kind: Missing['kind']) => (missing: Missing, tables: ReadonlySet<string>) =>
  missing.kind === kind && !tables.has(missing.object);

/** In the order in which somebody should look at them. */
const groups: readonly Group[] = [
  {
    title: 'Malformed directive',
    note: 'Nothing is served until the comment is corrected.',
    isPart: ofKind('directive'),
  },
  { title: 'No key', note: 'A row without a key has no global id and no place in a page.', isPart: ofKind('key') },
  { title: 'No usable name', note: 'A comment gives another name to the API alone.', isPart: ofKind('name') },
  {
    title: 'Not granted',
    note: 'Before you grant anything, look which policies guard the rows.',
    isPart: ofKind('privilege'),
  },
  {
    title: 'No counterpart in GraphQL',
    note: 'A view or a function may show it as another type.',
    isPart: ofKind('type'),
  },
  {
    title: 'Tables that are not written',
    note: 'They can be read; some of insert, update, delete or lookup is not there.',
    isPart: ({ object }, tables) => tables.has(object),
  },
];

/** Id of the overview. */
export const missingId = 'schema-missing';

/** Everything, by kind of reason. */
export function MissingOverview({ schema }: { readonly schema: RoleSchema }) {
  const tables = new Set(schema.tables.map(({ object }) => object));
  const parts = groups
    .map((group) => ({ ...group, missing: schema.missing.filter((entry) => group.isPart(entry, tables)) }))
    .filter(({ missing }) => missing.length > 0);
  return (
    <div className="schema-detail" id={missingId}>
      <h2>What {schema.role} does not see</h2>
      {parts.length === 0 ? (
        <p className="soft">Nothing: every table, column and function of the exposed schemas is there.</p>
      ) : (
        <p className="soft">The studio changes nothing. Copy a statement and run it as the owner.</p>
      )}
      {parts.map(({ title, note, missing }, index) => (
        <details key={title} className="missing-group" open={index === 0 || missing.length <= 5}>
          <summary>
            {title} <span className="badge">{missing.length}</span>
          </summary>
          <p className="small soft">{note}</p>
          <MissingList missing={missing} />
        </details>
      ))}
    </div>
  );
}
