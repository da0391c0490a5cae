const connect = require('connect');
const http = require('node:http');
const app = connect();
app.use('/ok', (_, response) => response.end('ok'));
app.use('/throws', () => {
  throw new Error('in a middleware');
});
const server = http.createServer(app).listen(0, async () => {
  const { ask } = await import('./ask.mjs');
  await ask(server.address().port, '/ok', '/none');
  server.close();
});
