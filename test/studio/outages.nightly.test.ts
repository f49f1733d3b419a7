/** Every page of the studio, first opened while its database is away: outages.test.ts opens some of them by day. */
import { test, vi } from 'vitest';
import { expectPagesBack } from './outages.ts';
import { startFragileStudio } from './studio.ts';

vi.setConfig({ testTimeout: 600_000 });

const studio = await startFragileStudio();

/** All pages but Home. */
const titles = [
  'Data', 'Access', 'Schema', 'GraphQL', 'API docs', 'Users', 'Emails', 'Deliveries', 'Inbox', 'Logs', 'Live', 'Settings',
]; // biome-ignore format: a list of names

test('every page that is first opened while the database is away shows what it has when it is back', async () => {
  await expectPagesBack(studio, titles);
});
