/** The page Graphql. */
import { Problem } from '../../components/problem.tsx';
/** The page. */
export function GraphqlPage() {
  return <Problem title="GraphQL" />;
}
