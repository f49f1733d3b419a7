/** What somebody saw before they began to type, although it may have been read again since. */
import { useRef } from 'react';

/** Hook. @param isTyped What is typed now begins with what is returned. */
export function useSeen<T>(latest: T, isTyped: boolean): T {
  const seen = useRef(latest);
  if (!isTyped) seen.current = latest;
  return seen.current;
}

/** Said while what is typed stands beside a newer user. */
export const changedMeanwhile =
  'Somebody else has changed this user. What you typed is kept; look at it before you save.';
