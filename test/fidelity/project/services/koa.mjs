import Koa from 'koa';
import { ask } from './ask.mjs';
const app = new Koa();
app.use(async (context, next) => {
  if (context.path === '/throws') throw new Error('in a middleware');
  if (context.path === '/ok') context.body = { ok: true };
  await next();
});
const server = app.listen(0, async () => {
  await ask(server.address().port, '/ok', '/throws', '/none');
  Promise.reject(new Error('nobody waits'));
});
