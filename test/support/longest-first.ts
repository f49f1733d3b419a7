/**
 * The order of the test files: those that take longest begin first, so that no worker is left with one of them at the end
 * while the others have nothing to do. A fresh checkout knows no durations, and the size of a file tells little.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take ten seconds and more, longest first. */
const longest = [
  'test/docs/pages.test.ts',
  'test/studio/pages.test.ts',
  'test/attack/slow-clients.test.ts',
  'test/commands/start.test.ts',
  'test/commands/workers.test.ts',
  'test/studio/emails.test.ts',
  'test/attack/squatted-accounts.test.ts',
  'test/http/inbox.test.ts',
  'test/studio/odd-days.test.ts',
  'test/attack/cache-busting.test.ts',
  'test/http/graphiql.test.ts',
  'test/attack/endless-functions.test.ts',
  'test/studio/schema-and-users.test.ts',
  'test/auth/factors.test.ts',
  'test/studio/example-operations.test.ts',
  'test/execute/changed-types.test.ts',
  'test/attack/memory.test.ts',
  'test/management/validation.test.ts',
  'test/commands/serve.test.ts',
  'test/attack/known-accounts.test.ts',
  'test/commands/stopping.test.ts',
  'test/auth/notifications.test.ts',
  'test/studio/schema-graph.test.ts',
  'test/postgres/embedded-server.test.ts',
  'test/management/start-templates.test.ts',
  'test/http/replicas.test.ts',
  'test/attack/hostile-requests.test.ts',
  'test/auth/outbox-processes.test.ts',
  'test/studio/graphql-page.test.ts',
  'test/postgres/cancel.test.ts',
  'test/attack/claimed-addresses.test.ts',
  'test/hooks/egress.test.ts',
  'test/auth/two-processes.test.ts',
  'test/property/property.test.ts',
  'test/attack/foreign-tokens.test.ts',
  'test/attack/notifications.test.ts',
  'test/commands/explain.test.ts',
  'test/email/smtp-transport.test.ts',
  'test/http/large-answers.test.ts',
  'test/auth/email-queue.test.ts',
  'test/package/contents.test.ts',
  'test/auth/user.test.ts',
  'test/race/race.test.ts',
  'test/studio/settings.test.ts',
  'test/attack/directives.test.ts',
  'test/attack/bad-input.test.ts',
  'test/postgres/flight-batch.test.ts',
  'test/golden/golden.test.ts',
  'test/mutation/transaction.test.ts',
  'test/management/config-route.test.ts',
];

/** Sorts the files that are known to be long before all others, which stay in the runner's own order. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification) => {
      const place = longest.findIndex((name) => moduleId.endsWith(name));
      return place === -1 ? longest.length : place;
    };
    return (await super.sort(files)).sort((a, b) => placeOf(a) - placeOf(b));
  }
}
