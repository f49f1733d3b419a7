/** What all routes are built from. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import type { Observe } from '../shared/observation.ts';
import type { Authenticate } from './caller/authenticate.ts';

/** The parts; all live as long as the server. */
export interface HttpParts {
  readonly config: Config;
  readonly authenticate: Authenticate;
  readonly observe: Observe;
}

/** A route's hook in callback style: no promise on the fast path. */
export type Hook = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void;
