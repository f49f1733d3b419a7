/** A link within the studio: a plain click changes the page without a reload. */
import type { ComponentProps } from 'react';
import { addressOf, goTo } from '../shared/router.ts';

interface LinkProps extends ComponentProps<'a'> {
  /** The page: `emails/recovery`. */
  readonly to: string;
  /** Whether it is its list's current item. */
  readonly isCurrent?: boolean;
}

/** The link; `onClick` is called if the page changes without a reload. */
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
