/** A group of the page under its heading, which is its address. */
import { type ReactNode, type RefObject, useEffect, useRef } from 'react';
import { Link } from '../../components/link.tsx';
import { usePlace } from '../../shared/router.ts';
import { groupAddress } from './place-of.ts';

interface NamedGroupProps {
  /** Path of its section. */
  readonly section: string;
  readonly title: string;
  readonly children: ReactNode;
}

/** The group. */
export function NamedGroup({ section, title, children }: NamedGroupProps) {
  const { ref, address, isWanted } = useGroup<HTMLElement>(section, title);
  return (
    <section ref={ref} className="setting-group" aria-label={title} data-wanted={isWanted}>
      <h2>
        <Link to={address}>{title}</Link>
      </h2>
      {children}
    </section>
  );
}

interface Group<T> {
  readonly ref: RefObject<T | null>;
  readonly address: string;
  readonly isWanted: boolean;
}

/** Hook: a group, which comes into view when it is the one in the address. */
export function useGroup<T extends HTMLElement>(section: string, title: string): Group<T> {
  const ref = useRef<T>(null);
  const { query } = usePlace();
  const address = groupAddress(section, title);
  const isWanted = address.endsWith(`?group=${query.get('group')}`);
  useEffect(() => {
    if (isWanted) ref.current?.scrollIntoView({ block: 'nearest' });
  }, [isWanted]);
  return { ref, address, isWanted };
}
