/** Icons of the studio, on a grid of 20: decoration beside a word. */
import type { ReactNode } from 'react';

/** @param lines The attribute `d` of a path; `filled` is filled as well. */
function icon(lines: string, filled = ''): () => ReactNode {
  const stroke = { stroke: 'currentColor', strokeWidth: 1.6, strokeLinecap: 'round', strokeLinejoin: 'round' } as const;
  return () => (
    <svg className="icon" viewBox="0 0 20 20" aria-hidden="true" fill="none" {...stroke}>
      <path d={lines} />
      <path d={filled} fill="currentColor" />
    </svg>
  );
}

/** Six corners. */
export const GraphqlIcon = icon('M10 2.5l6.5 3.75v7.5L10 17.5l-6.5-3.75v-7.5zM10 2.5L3.5 13.75h13z');

/** Rows and columns. */
export const DataIcon = icon(
  'M4.5 3.5h11a1.5 1.5 0 0 1 1.5 1.5v10a1.5 1.5 0 0 1-1.5 1.5h-11A1.5 1.5 0 0 1 3 15V5a1.5 1.5 0 0 1 1.5-1.5zM3 8h14M3 12.2h14M8.5 8v8.5',
);

/** An arrow that leads on. */
export const FollowIcon = icon('M6 14L14 6M7.5 6H14v6.5');

/** An envelope. */
export const MailIcon = icon(
  'M4.5 4.5h11a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2h-11a2 2 0 0 1-2-2v-7a2 2 0 0 1 2-2zM3 6l7 5 7-5',
);

/** A paper plane. */
export const DeliveriesIcon = icon('M17.5 2.5L9 11M17.5 2.5l-5 15L9 11L2.5 7.5z');

/** A tray. */
export const InboxIcon = icon(
  'M4.5 4h11l2 7v4a1.5 1.5 0 0 1-1.5 1.5H4A1.5 1.5 0 0 1 2.5 15v-4zM2.5 11h4l1.5 2.5h4l1.5-2.5h4',
);

/** Boxes that hang together. */
export const SchemaIcon = icon('M2.5 3h6v5h-6zM11.5 12h6v5h-6zM5.5 8v4A2.5 2.5 0 0 0 8 14.5h3.5');

/** A shield with a keyhole. */
export const AccessIcon = icon(
  'M10 2.5l6.5 2.3v4.7c0 4-2.8 6.8-6.5 8c-3.700-1.200-6.500-4-6.500-8V4.800zM10 11v2.500M10 11a1.700 1.700 0 1 1 0-3.400a1.700 1.700 0 0 1 0 3.400',
);

/** A dot that sends. */
export const LiveIcon = icon(
  'M6.5 13.5a5 5 0 0 1 0-7M13.5 6.5a5 5 0 0 1 0 7M4 16a8.5 8.5 0 0 1 0-12M16 4a8.5 8.5 0 0 1 0 12',
  'M10 8.6a1.4 1.4 0 0 1 0 2.8a1.4 1.4 0 0 1 0-2.8z',
);

/** Lines of a page. */
export const LogsIcon = icon('M4 3h12v14H4zM7 7h6M7 10h6M7 13h3.5');

/** Two people. */
export const UsersIcon = icon(
  'M8 4a3 3 0 0 1 0 6a3 3 0 0 1 0-6M2.5 16.5a5.5 5.5 0 0 1 11 0M13 4.3a3 3 0 0 1 0 5.4M15 12.2a5.5 5.5 0 0 1 2.5 4.3',
);

/** Two sliders. */
export const SettingsIcon = icon(
  'M3 6.5h7M14 6.5h3M3 13.5h3M10 13.5h7M12 4.5a2 2 0 0 1 0 4a2 2 0 0 1 0-4M8 11.5a2 2 0 0 1 0 4a2 2 0 0 1 0-4',
);

/** Lines of a list, with what comes of the first. */
export const ExamplesIcon = icon('M8.5 5h9M8.5 10h9M8.5 15h9M2.5 3l3 2l-3 2M2.5 10h2M2.5 15h2');

/** Half a disc. */
export const ThemeIcon = icon('M10 3a7 7 0 0 0 0 14', 'M10 3a7 7 0 0 1 0 14z');

/** A door with an arrow. */
export const LeaveIcon = icon('M8 3H4.5A1.5 1.5 0 0 0 3 4.5v11A1.5 1.5 0 0 0 4.5 17H8M8 10h9m-3-3l3 3-3 3');

/** A tick. */
export const TickIcon = icon('M4.5 10.5l3.5 3.5l7.5-8');

/** Two sheets. */
export const CopyIcon = icon(
  'M8.5 7h7A1.5 1.5 0 0 1 17 8.5v7a1.5 1.5 0 0 1-1.5 1.5h-7A1.5 1.5 0 0 1 7 15.5v-7A1.5 1.5 0 0 1 8.5 7zM13 7V4.5A1.5 1.5 0 0 0 11.5 3h-7A1.5 1.5 0 0 0 3 4.5v7A1.5 1.5 0 0 0 4.5 13H7',
);

/** A cross. */
export const CloseIcon = icon('M5 5l10 10M15 5L5 15');

/** A house. */
export const HomeIcon = icon('M3 9l7-6l7 6v7.5a1 1 0 0 1-1 1h-4v-5H8v5H4a1 1 0 0 1-1-1z');

/** A lens. */
export const SearchIcon = icon('M8.5 3a5.5 5.5 0 0 1 0 11a5.5 5.5 0 0 1 0-11M12.6 12.6L17 17');

/** Three lines. */
export const MenuIcon = icon('M3 5.5h14M3 10h14M3 14.5h14');

const descending = icon('M10 4v12m-4-4l4 4l4-4');
const ascending = icon('M10 16V4M6 8l4-4l4 4');

/** An arrow in the direction of an order; nothing for none. */
export function SortIcon({ direction }: { readonly direction: 'ascending' | 'descending' | null }) {
  const Arrow = { ascending, descending }[direction ?? 'ascending'];
  return <span className={direction === null ? 'sort none' : 'sort'}>{Arrow()}</span>;
}

/** An open book. */
export const BookIcon = icon(
  'M10 5.5C8 4 5.5 3.7 2.5 4v11.5c3-.3 5.5 0 7.5 1.5c2-1.5 4.5-1.8 7.5-1.5V4c-3-.3-5.5 0-7.5 1.5zM10 5.5V17',
);
