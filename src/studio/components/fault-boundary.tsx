/**
 * Keeps a fault of one page from taking the others along: most often its code could not be loaded.
 */
import { Component, type ReactNode } from 'react';
import { Problem } from './problem.tsx';

interface FaultBoundaryProps {
  readonly children: ReactNode;
}

/** Its owner gives it a `key` for each page. */
export class FaultBoundary extends Component<FaultBoundaryProps, { readonly hasFault: boolean }> {
  override readonly state = { hasFault: false };

  static getDerivedStateFromError(): { readonly hasFault: boolean } {
    return { hasFault: true };
  }

  override render(): ReactNode {
    if (!this.state.hasFault) return this.props.children;
    return (
      <Problem title="This page failed to load">
        The server may be down, or the studio may have been updated. What you typed is kept.{' '}
        <button type="button" onClick={() => location.reload()}>
          Reload
        </button>
      </Problem>
    );
  }
}
