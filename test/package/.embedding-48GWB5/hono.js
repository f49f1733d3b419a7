import { Hono } from 'hono';
import { gateway } from './gateway.js';

export const app = new Hono();
app.all('/graphql/v1', (context) => gateway.fetch(context.req.raw));
app.all('/auth/v1/*', (context) => gateway.fetch(context.req.raw));
