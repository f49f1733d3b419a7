/**
 * The routes for deliveries of emails and suppressed addresses. They show who gets which emails, so they need a token of
 * an operator.
 */
import type { FastifyRequest } from 'fastify';
import { integer, listOf, objectOf, schemaNamed } from '../../shared/json-schema.ts';
import {
  deliveryId,
  deliveryParameters,
  liftSuppressed,
  listDeliveries,
  listSuppressed,
  readDelivery,
  readDeliveryFilter,
  suppressedId,
} from '../deliveries/deliveries.ts';
import { ManagementError } from '../management-error.ts';
import type { ManagementRoutes, OpenManagementRoute } from './management-route-table.ts';

const idOf = ({ params }: FastifyRequest) => (params as { readonly id: string }).id;
const queryOf = ({ query }: FastifyRequest) => query as Readonly<Record<string, unknown>>;

/** The routes. */
export const deliveryRoutes: ManagementRoutes = {
  'GET /emails/deliveries': {
    id: 'listDeliveries',
    summary: 'List what became of emails, newest first. Needs the scope `project:operate`.',
    parameters: deliveryParameters,
    answer: listOf(schemaNamed('Delivery')),
    refusals: ['validation_failed', 'deliveries_failed'],
    run: ({ api }, request, { caller }) => {
      const filter = readDeliveryFilter(queryOf(request));
      return api.withDeliveries(caller, (pool) => listDeliveries(pool, filter));
    },
  },
  'GET /emails/deliveries/:id': {
    id: 'readDelivery',
    summary: 'Read what became of an email. Needs the scope `project:operate`.',
    parameters: [deliveryId],
    answer: schemaNamed('Delivery'),
    refusals: ['not_found', 'deliveries_failed'],
    run: ({ api }, request, { caller }) => api.withDeliveries(caller, (pool) => readDelivery(pool, idOf(request))),
  },
  'GET /emails/suppressed': {
    id: 'listSuppressed',
    summary: 'List the addresses that get no emails, newest first. Needs the scope `project:operate`.',
    parameters: deliveryParameters.filter(({ name }) => name === 'user'),
    answer: listOf(schemaNamed('SuppressedAddress')),
    refusals: ['validation_failed', 'deliveries_failed'],
    run: ({ api }, request, { caller }) => {
      const { user } = readDeliveryFilter({ user: queryOf(request).user });
      return api.withDeliveries(caller, (pool, now) => listSuppressed(pool, user, now));
    },
  },
  'DELETE /emails/suppressed/:id': {
    id: 'liftSuppressed',
    summary: 'Let an address get emails again. Needs the scope `project:operate`.',
    parameters: [suppressedId],
    answer: schemaNamed('SuppressedAddress'),
    refusals: ['not_found', 'deliveries_failed'],
    run: ({ api }, request, { caller }) => api.withDeliveries(caller, (pool) => liftSuppressed(pool, idOf(request))),
  },
};

/** The webhook of mail services. They have no token: the body is verified. */
export const eventRoute: OpenManagementRoute = {
  access: 'anyone',
  method: 'POST',
  path: '/emails/events',
  id: 'receiveMailEvents',
  summary: 'Take bounces and complaints from the mail service, which `mailer_events_secret` proves.',
  body: { description: 'As the service sends it.' },
  answer: objectOf({ events: { ...integer, description: 'New events.' } }),
  refusals: ['event_refused', 'body_too_large', 'deliveries_failed'],
  run({ api, receiveEvents }, { params, headers, body }) {
    if (receiveEvents === null) throw new ManagementError('event_refused', 'This gateway has no auth service');
    const { ref } = params as { readonly ref: string };
    const bytes = body instanceof Uint8Array ? Buffer.from(body) : Buffer.alloc(0);
    return api.receiveEvents(ref, { headers, body: bytes }, receiveEvents);
  },
};
