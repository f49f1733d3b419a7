/** How much room there is for a table. */
import { useSyncExternalStore } from 'react';

const narrow = matchMedia('(width < 800px)');

/** Hook: whether the page is a phone's. */
export function useWidth(): 'narrow' | 'wide' {
  const isNarrow = useSyncExternalStore(
    (tell) => {
      narrow.addEventListener('change', tell);
      return () => narrow.removeEventListener('change', tell);
    },
    () => narrow.matches,
  );
  return isNarrow ? 'narrow' : 'wide';
}
