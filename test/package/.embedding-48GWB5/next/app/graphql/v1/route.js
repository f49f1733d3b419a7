import { gateway } from '../../../../gateway.js';

export const GET = (request) => gateway.fetch(request);
export const POST = (request) => gateway.fetch(request);
