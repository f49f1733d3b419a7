/**
 * The pages of the studio, in menu order. A page is a folder and an entry here; its code is loaded on the first visit.
 */
import { type ComponentType, type LazyExoticComponent, lazy } from 'react';
import {
  DeliveriesIcon,
  GraphqlIcon,
  InboxIcon,
  LiveIcon,
  MailIcon,
  SchemaIcon,
  SettingsIcon,
  UsersIcon,
} from './components/icons.tsx';

/** A page. */
export interface StudioPage {
  /** First segment of its address. */
  readonly path: string;
  readonly title: string;
  readonly icon: ComponentType;
  /** Whether the page is useless without a session. */
  readonly needsSession: boolean;
  readonly Page: LazyExoticComponent<ComponentType>;
}

const GraphqlPage = lazy(async () => ({ default: (await import('./pages/graphql/graphql-page.tsx')).GraphqlPage }));
const SchemaPage = lazy(async () => ({ default: (await import('./pages/schema/schema-page.tsx')).SchemaPage }));
const UsersPage = lazy(async () => ({ default: (await import('./pages/users/users-page.tsx')).UsersPage }));
const EmailsPage = lazy(async () => ({ default: (await import('./pages/emails/emails-page.tsx')).EmailsPage }));
const DeliveriesPage = lazy(async () => ({
  default: (await import('./pages/deliveries/deliveries-page.tsx')).DeliveriesPage,
}));
const LivePage = lazy(async () => ({ default: (await import('./pages/live/live-page.tsx')).LivePage }));
const SettingsPage = lazy(async () => ({ default: (await import('./pages/settings/settings-page.tsx')).SettingsPage }));
const InboxPage = lazy(async () => ({ default: (await import('./pages/inbox/inbox-page.tsx')).InboxPage }));

/** All pages. */
export const studioPages: readonly StudioPage[] = [
  { path: 'graphql', title: 'GraphQL', icon: GraphqlIcon, needsSession: true, Page: GraphqlPage },
  { path: 'schema', title: 'Schema', icon: SchemaIcon, needsSession: true, Page: SchemaPage },
  { path: 'live', title: 'Live', icon: LiveIcon, needsSession: true, Page: LivePage },
  { path: 'users', title: 'Users', icon: UsersIcon, needsSession: true, Page: UsersPage },
  { path: 'emails', title: 'Emails', icon: MailIcon, needsSession: true, Page: EmailsPage },
  { path: 'deliveries', title: 'Deliveries', icon: DeliveriesIcon, needsSession: true, Page: DeliveriesPage },
  { path: 'inbox', title: 'Inbox', icon: InboxIcon, needsSession: false, Page: InboxPage },
  { path: 'settings', title: 'Settings', icon: SettingsIcon, needsSession: true, Page: SettingsPage },
];
