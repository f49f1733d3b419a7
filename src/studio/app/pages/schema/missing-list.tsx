/** Objects that a role does not see, why, and the statement that would change it. The studio never runs them. */
import { useEffect, useRef } from 'react';
import { quoteName } from '../../../../graphql/catalog/quote-name.ts';
import { Statement } from '../../components/statement.tsx';
import { type Missing, partMissing, type RoleSchema } from '../../shared/role-schema.ts';
import { session } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';

/** Reasons with their fixes. */
export function MissingList({ missing }: { readonly missing: readonly Missing[] }) {
  return (
    <ul className="missing-list">
      {missing.map(({ object, reason, fix }) => (
        <li key={`${object} ${reason}`}>
          <p>{reason}</p>
          {fix !== null && <Statement text={fix} />}
        </li>
      ))}
    </ul>
  );
}

interface Group {
  readonly title: string;
  readonly note: string;
  readonly kind: Missing['kind'];
}

/** In order of importance. */
const groups: readonly Group[] = [
  {
    title: 'Invalid comment directive',
    note: 'The API returns errors until you correct the comment.',
    kind: 'directive',
  },
  { title: 'No key', note: 'Without a key, rows have no node ID and cannot be paginated.', kind: 'key' },
  { title: 'No usable name', note: 'Set an API name with a comment.', kind: 'name' },
  {
    title: 'Not granted',
    note: 'Before you grant access, check the row security policies.',
    kind: 'privilege',
  },
  {
    title: 'No counterpart in GraphQL',
    note: 'A view or function can offer the same in another way.',
    kind: 'type',
  },
];

/** All reasons, by kind. On narrow screens it is below the list, and comes into view. */
export function MissingOverview({ schema }: { readonly schema: RoleSchema }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    place.current?.scrollIntoView();
  }, []);
  const { hidden, limited } = partMissing(schema);
  const parts = groups
    .map((group) => ({ ...group, missing: hidden.filter(({ kind }) => kind === group.kind) }))
    .filter(({ missing }) => missing.length > 0);
  return (
    <div className="schema-detail" ref={place}>
      <h2>Hidden from {schema.role}</h2>
      {schema.tables.length + schema.missing.length === 0 ? (
        <FirstTable role={schema.role} />
      ) : parts.length === 0 ? (
        <p className="soft">Nothing. The role sees every table, column and function of the exposed schemas.</p>
      ) : (
        <p className="soft">The studio does not run these statements. Copy one and run it as the owner.</p>
      )}
      {parts.map(({ title, note, missing }, index) => (
        <MissingGroup key={title} title={title} note={note} missing={missing} isOpen={index === 0} />
      ))}
      {limited.length > 0 && (
        <section className="stack" aria-label={limitedTitle}>
          <h2>{limitedTitle}</h2>
          <MissingGroup title="Fields left out" note={limitedNote} missing={limited} isOpen={parts.length === 0} />
        </section>
      )}
    </div>
  );
}

const limitedTitle = 'Visible, with fewer operations';
const limitedNote =
  'The role uses these tables, without some reads, inserts, updates, deletes, lookups by key or relationships.';

interface MissingGroupProps {
  readonly title: string;
  readonly note: string;
  readonly missing: readonly Missing[];
  readonly isOpen: boolean;
}

/** Short groups are always open. */
function MissingGroup({ title, note, missing, isOpen }: MissingGroupProps) {
  return (
    <details className="missing-group" open={isOpen || missing.length <= 5}>
      <summary>
        {title} <span className="badge">{missing.length}</span>
      </summary>
      <p className="small soft">{note}</p>
      <MissingList missing={missing} />
    </details>
  );
}

/** For a database without tables. */
function FirstTable({ role }: { readonly role: string }) {
  const now = useStore(session);
  const grantees = new Set([...(now.kind === 'none' ? [] : Object.values(now.project.roles)), role]);
  const statements = [
    'create table note (id bigint generated always as identity primary key, body text);',
    'alter table note enable row level security;',
    'create policy everyone_reads on note for select using (true);',
    `grant select on note to ${[...grantees].map(quoteName).join(', ')};`,
  ];
  return (
    <>
      <p className="soft">
        The exposed schemas have no tables. Run this as the owner to make one that everyone may read:
      </p>
      <Statement text={statements.join('\n')} />
    </>
  );
}
