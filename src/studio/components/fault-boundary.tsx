/**
 * Isolates the fault of one page; usually its code could not be loaded.
 */
import { Component, type ReactNode } from 'react';
import { Problem } from './problem.tsx';

interface FaultBoundaryProps {
  readonly children: ReactNode;
}

/** Give it a `key` per page. */
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
