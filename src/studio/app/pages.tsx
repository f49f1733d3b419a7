/**
 * The pages of the studio, in menu order. A page is a folder and an entry here; its code is loaded on the first visit.
 */
import { type ComponentType, type LazyExoticComponent, lazy } from 'react';
import {
  AccessIcon,
  BookIcon,
  DataIcon,
  DeliveriesIcon,
  GraphqlIcon,
  HomeIcon,
  InboxIcon,
  LiveIcon,
  LogsIcon,
  MailIcon,
  SchemaIcon,
  SettingsIcon,
  UsersIcon,
} from './components/icons.tsx';
import type { Command } from './shared/commands.ts';

/** The parts of the menu, by their headings; the first has none. */
export const menuParts = ['', 'Database', 'Auth', 'Gateway'] as const;

/** A page. */
export interface StudioPage {
  /** First segment of its address. */
  readonly path: string;
  readonly title: string;
  readonly icon: ComponentType;
  readonly part: (typeof menuParts)[number];
  /** Other words by which the command palette finds it. */
  readonly words?: string;
  /** Whether the page is useless without a session. */
  readonly needsSession: boolean;
  readonly Page: LazyExoticComponent<ComponentType>;
  /** Begins to load its code. @throws TypeError if that fails, as `Page` does */
  readonly load: () => Promise<unknown>;
}

const DataPage = pageOf(async () => (await import('./pages/data/data-page.tsx')).DataPage);
const GraphqlPage = pageOf(async () => (await import('./pages/graphql/graphql-page.tsx')).GraphqlPage);
const AccessPage = pageOf(async () => (await import('./pages/access/access-page.tsx')).AccessPage);
const SchemaPage = pageOf(async () => (await import('./pages/schema/schema-page.tsx')).SchemaPage);
const ApiDocsPage = pageOf(async () => (await import('./pages/api-docs/api-docs-page.tsx')).ApiDocsPage);
const UsersPage = pageOf(async () => (await import('./pages/users/users-page.tsx')).UsersPage);
const EmailsPage = pageOf(async () => (await import('./pages/emails/emails-page.tsx')).EmailsPage);
const DeliveriesPage = pageOf(async () => (await import('./pages/deliveries/deliveries-page.tsx')).DeliveriesPage);
const LogsPage = pageOf(async () => (await import('./pages/logs/logs-page.tsx')).LogsPage);
const LivePage = pageOf(async () => (await import('./pages/live/live-page.tsx')).LivePage);
const SettingsPage = pageOf(async () => (await import('./pages/settings/settings-page.tsx')).SettingsPage);
const InboxPage = pageOf(async () => (await import('./pages/inbox/inbox-page.tsx')).InboxPage);
const HomePage = pageOf(async () => (await import('./pages/home/home-page.tsx')).HomePage);

/** What the command palette finds of Settings. */
export async function loadSettingsCommands(): Promise<readonly Command[]> {
  return (await import('./pages/settings/settings-commands.ts')).settingsCommands;
}

/** The code of a page, which may be asked for before the page is shown. */
function pageOf(load: () => Promise<ComponentType>): Pick<StudioPage, 'Page' | 'load'> {
  let loading: Promise<{ readonly default: ComponentType }> | null = null;
  const loadOnce = () => {
    loading ??= load().then((Page) => ({ default: Page }));
    return loading;
  };
  return { load: loadOnce, Page: lazy(loadOnce) };
}

const session = { needsSession: true };

/** All pages. */
export const studioPages: readonly StudioPage[] = [
  {
    path: 'home',
    title: 'Home',
    part: '',
    icon: HomeIcon,
    words: 'health keys urls status',
    ...session,
    ...HomePage,
  },
  {
    path: 'data',
    title: 'Data',
    part: 'Database',
    icon: DataIcon,
    words: 'rows tables browse edit',
    ...session,
    ...DataPage,
  },
  {
    path: 'access',
    title: 'Access',
    part: 'Database',
    icon: AccessIcon,
    words: 'policies grants row security roles permissions',
    ...session,
    ...AccessPage,
  },
  {
    path: 'schema',
    title: 'Schema',
    part: 'Database',
    icon: SchemaIcon,
    words: 'tables',
    ...session,
    ...SchemaPage,
  },
  {
    path: 'graphql',
    title: 'GraphQL',
    part: 'Database',
    icon: GraphqlIcon,
    words: 'query',
    ...session,
    ...GraphqlPage,
  },
  {
    path: 'api-docs',
    title: 'API docs',
    part: 'Database',
    icon: BookIcon,
    words: 'code samples curl client',
    ...session,
    ...ApiDocsPage,
  },
  {
    path: 'users',
    title: 'Users',
    part: 'Auth',
    icon: UsersIcon,
    words: 'accounts invite',
    ...session,
    ...UsersPage,
  },
  { path: 'emails', title: 'Emails', part: 'Auth', icon: MailIcon, words: 'templates', ...session, ...EmailsPage },
  {
    path: 'deliveries',
    title: 'Deliveries',
    part: 'Auth',
    icon: DeliveriesIcon,
    words: 'bounced',
    ...session,
    ...DeliveriesPage,
  },
  {
    path: 'inbox',
    title: 'Inbox',
    part: 'Auth',
    icon: InboxIcon,
    words: 'captured',
    needsSession: false,
    ...InboxPage,
  },
  {
    path: 'logs',
    title: 'Logs',
    part: 'Gateway',
    icon: LogsIcon,
    words: 'requests errors metrics latency find by id',
    ...session,
    ...LogsPage,
  },
  { path: 'live', title: 'Live', part: 'Gateway', icon: LiveIcon, words: 'subscriptions', ...session, ...LivePage },
  {
    path: 'settings',
    title: 'Settings',
    part: 'Gateway',
    icon: SettingsIcon,
    words: 'tokens providers smtp passwords sessions limits hooks keys history',
    ...session,
    ...SettingsPage,
  },
];
