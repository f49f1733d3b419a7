/**
 * A link within the studio: a plain click shows the page without loading it.
 */
import type { ComponentProps } from 'react';
import { addressOf, goTo } from '../shared/router.ts';

interface LinkProps extends ComponentProps<'a'> {
  /** The page: `emails/recovery`. */
  readonly to: string;
  /** Whether it is the one of its list that is shown. */
  readonly isCurrent?: boolean;
}

/** The link; `onClick` is called where the page is shown without loading it. */
export function Link({ to, isCurrent = false, onClick, ...others }: LinkProps) {
  return (
    <a
      href={addressOf(to)}
      aria-current={isCurrent ? 'true' : undefined}
      onClick={(event) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        goTo(to);
        onClick?.(event);
      }}
      {...others}
    />
  );
}
