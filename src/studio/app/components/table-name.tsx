/** The name of a table: that of the API, and the one of SQL beside it where nobody would guess it. */
import { Breakable } from './breakable.tsx';

/** What names a table. */
interface Named {
  /** Of its object type. */
  readonly name: string;
  /** As SQL writes it. */
  readonly object: string;
}

const comparable = (name: string): string => name.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase();

/** The name in SQL where it has other words, without the schema that all have; null where it has not: `OrderLine` is `order_line`. */
function sqlNameOf({ name, object }: Named): string | null {
  const sqlName = object.replace(/^public\./, '');
  return [object, sqlName, sqlName.replace(/^.*\./, '')].some((each) => comparable(each) === comparable(name))
    ? null
    : sqlName;
}

/** The names; that of SQL in quieter letters. */
export function TableName({ table, isStrong = false }: { readonly table: Named; readonly isStrong?: boolean }) {
  const sqlName = sqlNameOf(table);
  const name = <Breakable text={table.name} />;
  return (
    <>
      {isStrong ? <strong>{name}</strong> : name}
      {sqlName !== null && (
        <>
          {' '}
          <code className="soft sql-name">
            <Breakable text={sqlName} />
          </code>
        </>
      )}
    </>
  );
}
