/**
 * The order of the test files: those that take longest begin first, so that no worker is left with one of them at the end
 * while the others have nothing to do. A fresh checkout knows no durations, and the size of a file tells little.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, longest first. */
const longest = [
  'test/commands/start.test.ts',
  'test/commands/serve.test.ts',
  'test/studio/emails.test.ts',
  'test/attack/cache-busting.test.ts',
  'test/docs/pages.test.ts',
  'test/property/property.test.ts',
  'test/attack/slow-clients.test.ts',
  'test/auth/factors.test.ts',
  'test/commands/stopping.test.ts',
  'test/studio/pages.test.ts',
  'test/attack/hostile-requests.test.ts',
  'test/attack/squatted-accounts.test.ts',
  'test/commands/workers.test.ts',
  'test/commands/check-advice.test.ts',
  'test/attack/expensive-templates.test.ts',
  'test/studio/example-operations.test.ts',
  'test/attack/memory.test.ts',
  'test/package/contents.test.ts',
  'test/postgres/embedded-server.test.ts',
  'test/attack/large-statements.test.ts',
  'test/studio/odd-days.test.ts',
  'test/attack/known-accounts.test.ts',
  'test/studio/schema-and-users.test.ts',
  'test/http/large-answers.test.ts',
  'test/http/replicas.test.ts',
  'test/extensions/relation-order.test.ts',
  'test/auth/outbox-processes.test.ts',
  'test/commands/check-reached-routines.test.ts',
  'test/studio/schema-graph.test.ts',
  'test/auth/user.test.ts',
  'test/management/config-route.test.ts',
  'test/management/validation.test.ts',
  'test/management/email-openapi.test.ts',
  'test/attack/hostile-schema.test.ts',
  'test/auth/core/migrations.test.ts',
  'test/management/templates-sync.test.ts',
  'test/auth/link-page-browser.test.ts',
  'test/postgres/flight-batch.test.ts',
  'test/extensions/function-order.test.ts',
  'test/auth/notifications.test.ts',
  'test/attack/foreign-tokens.test.ts',
  'test/attack/hidden-changes.test.ts',
  'test/execute/freshness.test.ts',
  'test/golden/golden.test.ts',
  'test/attack/bad-input.test.ts',
  'test/extensions/nested-random.test.ts',
  'test/package/launcher.test.ts',
  'test/attack/prepared-statements.test.ts',
  'test/studio/graphql-page.test.ts',
  'test/attack/flooded-inbox.test.ts',
  'test/email/smtp-transport.test.ts',
  'test/auth/openapi.test.ts',
  'test/management/start-templates.test.ts',
  'test/attack/related-rows.test.ts',
  'test/extensions/text-search.test.ts',
  'test/attack/endless-functions.test.ts',
  'test/auth/two-processes.test.ts',
  'test/commands/check-fixes.test.ts',
  'test/extensions/exact-cursors.test.ts',
  'test/commands/init.test.ts',
  'test/attack/linked-rows.test.ts',
  'test/postgres/cancel.test.ts',
  'test/auth/http.test.ts',
  'test/email/built-in-look.test.ts',
  'test/http/inbox.test.ts',
  'test/writes/writes.test.ts',
  'test/egress/egress.test.ts',
  'test/auth/id-token.test.ts',
  'test/commands/check-functions.test.ts',
  'test/auth/provider-linking.test.ts',
  'test/execute/changed-types.test.ts',
  'test/attack/directives.test.ts',
  'test/postgres/encrypted.test.ts',
  'test/management/deliveries.test.ts',
  'test/mutation/values.test.ts',
  'test/attack/configured-secrets.test.ts',
  'test/management/email-drafts.test.ts',
  'test/attack/downgraded-connections.test.ts',
  'test/http/gateway.test.ts',
  'test/auth/providers.test.ts',
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
