/**
 * The routes for deliveries of emails and suppressed addresses. They show who gets which emails, so they need a token of
 * an operator.
 */
import type { FastifyRequest } from 'fastify';
import { EventRefusal } from '../../email/events/mail-event.ts';
import { about, anything, integer, listOf, objectOf } from '../../shared/schema.ts';
import { assertProject } from '../authorize.ts';
import {
  deliveryFilters,
  deliveryId,
  deliverySchema,
  liftSuppressed,
  listDeliveries,
  listSuppressed,
  readDelivery,
  readDeliveryFilter,
  suppressedId,
  suppressedSchema,
  userFilter,
} from '../deliveries/deliveries.ts';
import { ManagementError } from '../management-error.ts';
import type { ManagementRoutes, OpenManagementRoute } from './management-route-table.ts';

const idOf = ({ params }: FastifyRequest) => (params as { readonly id: string }).id;
const queryOf = ({ query }: FastifyRequest) => query as Readonly<Record<string, unknown>>;

/** The routes. */
export const deliveryRoutes: ManagementRoutes = {
  'GET /emails/deliveries': {
    access: 'project:operate',
    id: 'listDeliveries',
    summary: 'List the delivery status of emails, newest first',
    query: deliveryFilters,
    answer: listOf(deliverySchema),
    refusals: ['validation_failed'],
    failure: 'deliveries_failed',
    run: ({ project: { pool } }, request) => listDeliveries(pool, readDeliveryFilter(queryOf(request))),
  },
  'GET /emails/deliveries/:id': {
    access: 'project:operate',
    id: 'readDelivery',
    summary: 'Read the delivery status of an email',
    pathParameters: { id: deliveryId },
    answer: deliverySchema,
    refusals: ['not_found'],
    failure: 'deliveries_failed',
    run: ({ project: { pool } }, request) => readDelivery(pool, idOf(request)),
  },
  'GET /emails/suppressed': {
    access: 'project:operate',
    id: 'listSuppressed',
    summary: 'List the addresses that get no emails, newest first',
    query: userFilter,
    answer: listOf(suppressedSchema),
    refusals: ['validation_failed'],
    failure: 'deliveries_failed',
    run({ project: { pool, clock } }, request) {
      const { user } = readDeliveryFilter({ user: queryOf(request).user });
      return listSuppressed(pool, user, new Date(clock.now()));
    },
  },
  'DELETE /emails/suppressed/:id': {
    access: 'project:operate',
    id: 'liftSuppressed',
    summary: 'Let an address get emails again',
    pathParameters: { id: suppressedId },
    answer: suppressedSchema,
    refusals: ['not_found'],
    failure: 'deliveries_failed',
    run: ({ project: { pool } }, request) => liftSuppressed(pool, idOf(request)),
  },
};

/** The webhook of mail services. They have no token: the body is verified. */
export const eventRoute: OpenManagementRoute = {
  access: 'anyone',
  method: 'POST',
  path: '/emails/events',
  id: 'receiveMailEvents',
  summary: 'Take bounces and complaints from the mail service, which `mailer_events_secret` proves',
  body: [anything({ description: 'As the service sends it.' })],
  answer: objectOf({ events: about(integer, 'New events.') }),
  refusals: ['event_refused', 'body_too_large'],
  failure: 'deliveries_failed',
  async run({ project, auth }, { params, headers, body }) {
    if (auth === null) throw new ManagementError('event_refused', 'This gateway has no auth service');
    const { ref } = params as { readonly ref: string };
    const bytes = body instanceof Uint8Array ? Buffer.from(body) : Buffer.alloc(0);
    await assertProject(project, ref);
    const config = await project.store.refreshIfNewer(project.pool);
    const events = await auth.services.receiveEvents(config, { headers, body: bytes }).catch((error) => {
      throw error instanceof EventRefusal ? new ManagementError('event_refused', error.message) : error;
    });
    return { events };
  },
};
