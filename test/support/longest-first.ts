/**
 * The order of the test files: those that take longest begin first, so that no worker is left with one of them at the end
 * while the others have nothing to do. A fresh checkout knows no durations, and the size of a file tells little.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, longest first, as the runner prints them. */
const longest = [
  'test/studio/data.test.ts',
  'test/studio/emails.test.ts',
  'test/execute/freshness.test.ts',
  'test/docs/pages.test.ts',
  'test/studio/pages.test.ts',
  'test/commands/start.test.ts',
  'test/studio/settings.test.ts',
  'test/studio/odd-days.test.ts',
  'test/studio/access.test.ts',
  'test/live/random-changes.test.ts',
  'test/auth/second-day-browser.test.ts',
  'test/studio/logs.test.ts',
  'test/studio/users.test.ts',
  'test/commands/check-advice.test.ts',
  'test/attack/slow-clients.test.ts',
  'test/http/replicas.test.ts',
  'test/studio/outages.test.ts',
  'test/attack/endless-functions.test.ts',
  'test/commands/reload.test.ts',
  'test/commands/stopping.test.ts',
  'test/attack/live.test.ts',
  'test/migrations/move.test.ts',
  'test/studio/home.test.ts',
  'test/attack/large-messages.test.ts',
  'test/live/subscription-log.test.ts',
  'test/auth/factors.test.ts',
  'test/http/graphiql.test.ts',
  'test/studio/operator.test.ts',
  'test/commands/serve.test.ts',
  'test/studio/schema.test.ts',
  'test/postgres/connection-failures.test.ts',
  'test/studio/schema-graph.test.ts',
  'test/attack/cache-busting.test.ts',
  'test/attack/known-accounts.test.ts',
  'test/studio/deliveries.test.ts',
  'test/management/config-route.test.ts',
  'test/attack/downgraded-connections.test.ts',
  'test/auth/link-page-browser.test.ts',
  'test/commands/rotate-secrets.test.ts',
  'test/studio/email-editor.test.ts',
  'test/email/smtp-transport.test.ts',
  'test/attack/guessed-factors.test.ts',
  'test/studio/graphql-page.test.ts',
  'test/management/start-templates.test.ts',
  'test/postgres/cancel.test.ts',
  'test/golden/golden.test.ts',
  'test/attack/memory.test.ts',
  'test/attack/planning-memory.test.ts',
  'test/attack/squatted-accounts.test.ts',
  'test/studio/example-operations.test.ts',
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
