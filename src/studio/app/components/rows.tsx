/** The frame of a table with one row per thing. */
import type { ReactNode } from 'react';

interface RowsProps {
  readonly label: string;
  readonly head?: ReactNode;
  readonly columns: readonly string[];
  readonly hasActions?: boolean;
  /** Many columns: where there is no room for them, each row is a card. The cells have their titles in `data-title`. */
  readonly isWide?: boolean;
  readonly children: ReactNode;
}

/** The table. */
export function Rows({ label, head, columns, hasActions = false, isWide = false, children }: RowsProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <section className={isWide ? 'rows wide' : 'rows'} aria-label={label} tabIndex={0}>
      {head}
      <table>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
            {hasActions && (
              <th scope="col">
                <span className="visually-hidden">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}
