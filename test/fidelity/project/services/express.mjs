import express from 'express';
import { ask } from './ask.mjs';
const app = express();
app.get('/ok', (_, response) => response.json({ ok: true }));
app.get('/throws', () => {
  throw new Error('in a handler');
});
app.get('/rejects', async () => {
  throw new Error('in an async handler');
});
app.get('/later/:id', (request, response) => {
  setTimeout(() => {
    if (request.params.id === '9') throw new Error('in a timer of a request');
    response.send('later');
  }, 5);
});
const server = app.listen(0, async () => {
  const { port } = server.address();
  await ask(port, '/ok', '/throws', '/rejects', '/none', '/later/1', '/later/9');
});
