import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { ask } from './ask.mjs';
const app = new Hono();
app.get('/ok', (c) => c.json({ ok: true }));
app.get('/throws', () => {
  throw new Error('in a handler');
});
const server = serve({ fetch: app.fetch, port: 0 }, async ({ port }) => {
  await ask(port, '/ok', '/throws', '/none');
  server.close();
  process.exitCode = 4;
});
