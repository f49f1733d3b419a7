/**
 * The order of the test files: those that take longest begin first, so that no worker is left with one of them at the end
 * while the others have nothing to do. A fresh checkout knows no durations, and the size of a file tells little.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take ten seconds and more, longest first. */
const longest = [
  'test/attack/slow-clients.test.ts',
  'test/studio/pages.test.ts',
  'test/http/graphiql.test.ts',
  'test/commands/workers.test.ts',
  'test/commands/start.test.ts',
  'test/studio/odd-days.test.ts',
  'test/studio/emails.test.ts',
  'test/docs/pages.test.ts',
  'test/attack/cache-busting.test.ts',
  'test/attack/squatted-accounts.test.ts',
  'test/auth/outbox-processes.test.ts',
  'test/studio/schema-and-users.test.ts',
  'test/hooks/reach.test.ts',
  'test/property/property.test.ts',
  'test/auth/notifications.test.ts',
  'test/auth/user.test.ts',
  'test/commands/serve.test.ts',
  'test/auth/factors.test.ts',
  'test/postgres/embedded-server.test.ts',
  'test/commands/init.test.ts',
  'test/attack/directives.test.ts',
  'test/commands/stopping.test.ts',
  'test/auth/email-queue.test.ts',
  'test/postgres/cancel.test.ts',
  'test/management/config-route.test.ts',
  'test/attack/memory.test.ts',
  'test/execute/changed-types.test.ts',
  'test/management/start-templates.test.ts',
  'test/race/race.test.ts',
  'test/attack/hostile-requests.test.ts',
  'test/http/replicas.test.ts',
  'test/attack/endless-functions.test.ts',
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
