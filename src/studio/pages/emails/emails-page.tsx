/** The page Emails. */
import { Problem } from '../../components/problem.tsx';
/** The page. */
export function EmailsPage() {
  return <Problem title="Emails" />;
}
