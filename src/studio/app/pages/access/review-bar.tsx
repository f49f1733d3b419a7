/** The next step below the chosen table, always in reach: review what was collected, which then runs. */
import { useStore } from '../../shared/store.ts';
import { sayCount, sqlChanges } from './sql-changes.ts';

/** The bar; nothing without changes. */
export function ReviewBar({ onReview }: { readonly onReview: () => void }) {
  const count = useStore(sqlChanges).length;
  return (
    <footer className="review-bar" data-empty={count === 0}>
      <span className="soft small" role="status">
        {count > 0 && 'Nothing has run yet.'}
      </span>
      {count > 0 && (
        <button type="button" className="primary" onClick={onReview}>
          Review {sayCount(count)}
        </button>
      )}
    </footer>
  );
}
