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
}

const DataPage = lazy(async () => ({ default: (await import('./pages/data/data-page.tsx')).DataPage }));
const GraphqlPage = lazy(async () => ({ default: (await import('./pages/graphql/graphql-page.tsx')).GraphqlPage }));
const AccessPage = lazy(async () => ({ default: (await import('./pages/access/access-page.tsx')).AccessPage }));
const SchemaPage = lazy(async () => ({ default: (await import('./pages/schema/schema-page.tsx')).SchemaPage }));
const ApiDocsPage = lazy(async () => ({ default: (await import('./pages/api-docs/api-docs-page.tsx')).ApiDocsPage }));
const UsersPage = lazy(async () => ({ default: (await import('./pages/users/users-page.tsx')).UsersPage }));
const EmailsPage = lazy(async () => ({ default: (await import('./pages/emails/emails-page.tsx')).EmailsPage }));
const DeliveriesPage = lazy(async () => ({
  default: (await import('./pages/deliveries/deliveries-page.tsx')).DeliveriesPage,
}));
const LogsPage = lazy(async () => ({ default: (await import('./pages/logs/logs-page.tsx')).LogsPage }));
const LivePage = lazy(async () => ({ default: (await import('./pages/live/live-page.tsx')).LivePage }));
const SettingsPage = lazy(async () => ({ default: (await import('./pages/settings/settings-page.tsx')).SettingsPage }));
const InboxPage = lazy(async () => ({ default: (await import('./pages/inbox/inbox-page.tsx')).InboxPage }));

const HomePage = lazy(async () => ({ default: (await import('./pages/home/home-page.tsx')).HomePage }));

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
    Page: HomePage,
  },
  {
    path: 'data',
    title: 'Data',
    part: 'Database',
    icon: DataIcon,
    words: 'rows tables browse edit',
    ...session,
    Page: DataPage,
  },
  {
    path: 'access',
    title: 'Access',
    part: 'Database',
    icon: AccessIcon,
    words: 'policies grants row security roles permissions',
    ...session,
    Page: AccessPage,
  },
  {
    path: 'schema',
    title: 'Schema',
    part: 'Database',
    icon: SchemaIcon,
    words: 'tables',
    ...session,
    Page: SchemaPage,
  },
  {
    path: 'graphql',
    title: 'GraphQL',
    part: 'Database',
    icon: GraphqlIcon,
    words: 'query',
    ...session,
    Page: GraphqlPage,
  },
  {
    path: 'api-docs',
    title: 'API docs',
    part: 'Database',
    icon: BookIcon,
    words: 'code samples curl client',
    ...session,
    Page: ApiDocsPage,
  },
  {
    path: 'users',
    title: 'Users',
    part: 'Auth',
    icon: UsersIcon,
    words: 'accounts invite',
    ...session,
    Page: UsersPage,
  },
  { path: 'emails', title: 'Emails', part: 'Auth', icon: MailIcon, words: 'templates', ...session, Page: EmailsPage },
  {
    path: 'deliveries',
    title: 'Deliveries',
    part: 'Auth',
    icon: DeliveriesIcon,
    words: 'bounced',
    ...session,
    Page: DeliveriesPage,
  },
  {
    path: 'inbox',
    title: 'Inbox',
    part: 'Auth',
    icon: InboxIcon,
    words: 'captured',
    needsSession: false,
    Page: InboxPage,
  },
  {
    path: 'logs',
    title: 'Logs',
    part: 'Gateway',
    icon: LogsIcon,
    words: 'requests errors metrics latency find by id',
    ...session,
    Page: LogsPage,
  },
  { path: 'live', title: 'Live', part: 'Gateway', icon: LiveIcon, words: 'subscriptions', ...session, Page: LivePage },
  {
    path: 'settings',
    title: 'Settings',
    part: 'Gateway',
    icon: SettingsIcon,
    words: 'tokens providers smtp passwords sessions limits hooks keys history',
    ...session,
    Page: SettingsPage,
  },
];
