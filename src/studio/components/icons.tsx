/**
 * The drawings of the studio, on a grid of 20: each is decoration beside a word.
 */
import type { ReactNode } from 'react';

function icon(content: ReactNode): () => ReactNode {
  return () => (
    <svg className="icon" viewBox="0 0 20 20" aria-hidden="true" fill="none" stroke="currentColor" strokeWidth="1.6">
      {content}
    </svg>
  );
}

/** Six corners. */
export const GraphqlIcon = icon(
  <>
    <path d="M10 2.5l6.5 3.75v7.5L10 17.5l-6.5-3.75v-7.5z" strokeLinejoin="round" />
    <path d="M10 2.5L3.5 13.75h13z" strokeLinejoin="round" />
  </>,
);

/** An envelope. */
export const MailIcon = icon(
  <>
    <rect x="2.5" y="4.5" width="15" height="11" rx="2" />
    <path d="M3 6l7 5 7-5" strokeLinecap="round" />
  </>,
);

/** A tray. */
export const InboxIcon = icon(
  <>
    <path d="M4.5 4h11l2 7v4a1.5 1.5 0 0 1-1.5 1.5H4A1.5 1.5 0 0 1 2.5 15v-4z" strokeLinejoin="round" />
    <path d="M2.5 11h4l1.5 2.5h4l1.5-2.5h4" strokeLinejoin="round" />
  </>,
);

/** Boxes that hang together. */
export const SchemaIcon = icon(
  <>
    <rect x="2.5" y="3" width="6" height="5" rx="1.2" />
    <rect x="11.5" y="12" width="6" height="5" rx="1.2" />
    <path d="M5.5 8v4A2.5 2.5 0 0 0 8 14.5h3.5" strokeLinecap="round" />
  </>,
);

/** Two people. */
export const UsersIcon = icon(
  <>
    <circle cx="8" cy="7" r="3" />
    <path d="M2.5 16.5a5.5 5.5 0 0 1 11 0M13 4.3a3 3 0 0 1 0 5.4M15 12.2a5.5 5.5 0 0 1 2.5 4.3" strokeLinecap="round" />
  </>,
);

/** Half a disc. */
export const ThemeIcon = icon(
  <>
    <circle cx="10" cy="10" r="7" />
    <path d="M10 3a7 7 0 0 1 0 14z" fill="currentColor" />
  </>,
);

/** A door with an arrow. */
export const LeaveIcon = icon(
  <>
    <path d="M8 3H4.5A1.5 1.5 0 0 0 3 4.5v11A1.5 1.5 0 0 0 4.5 17H8" strokeLinecap="round" />
    <path d="M8 10h9m-3-3l3 3-3 3" strokeLinecap="round" strokeLinejoin="round" />
  </>,
);
