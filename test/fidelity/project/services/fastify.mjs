import fastify from 'fastify';
import { ask } from './ask.mjs';
const app = fastify({ logger: { level: 'error', timestamp: false, base: null } });
app.get('/ok', async () => ({ ok: true }));
app.get('/throws', async () => {
  throw new Error('in a handler');
});
app.get('/later', (_, reply) => {
  setTimeout(() => reply.send('later'), 5);
});
app.addHook('onClose', async () => console.log('closed'));
await app.listen({ port: 0 });
await ask(app.server.address().port, '/ok', '/throws', '/later', '/none');
process.on('SIGTERM', () => app.close());
process.kill(process.pid, 'SIGTERM');
