import { createServer } from 'node:http';
import { ask } from './ask.mjs';
const server = createServer((request, response) => {
  if (request.url === '/destroy') return request.destroy(new Error('destroyed'));
  if (request.url === '/emit') return server.emit('error', new Error('by hand'));
  response.end(request.url);
});
server.on('clientError', (error, socket) => {
  console.log('client error', error.code);
  socket.destroy();
});
server.listen(0, () => ask(server.address().port, '/ok', '/destroy', '/emit'));
