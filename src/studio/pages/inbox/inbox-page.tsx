/** The page Inbox. */
import { Problem } from '../../components/problem.tsx';
/** The page. */
export function InboxPage() {
  return <Problem title="Inbox" />;
}
