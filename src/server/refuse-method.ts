/** Refuses a method that a path lacks. */
import type { FastifyReply } from 'fastify';
import { PublicError } from '../shared/errors.ts';

/** @param allow The allowed methods. @throws PublicError always. */
export function refuseMethod(reply: FastifyReply, allow: string, message: string): never {
  reply.header('allow', allow);
  throw new PublicError('METHOD_NOT_ALLOWED', message);
}
