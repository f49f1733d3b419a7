/** What is typed, once typing rests: so that a search is not sent for each letter. */
import { useEffect, useState } from 'react';

const restMs = 200;

/** Hook: the text once typing rests. */
export function useRested(text: string): string {
  const [rested, setRested] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), restMs);
    return () => clearTimeout(timer);
  }, [text]);
  return rested;
}
