/** A small server that is watched by another tool beside us: a request, an error that is handled, then a death. */
const http = require('node:http');
const kind = process.argv[2];
const server = http.createServer((request, response) => response.end(request.url));
server.listen(0, () => {
  http.get({ port: server.address().port, path: '/one' }, (response) => {
    response.setEncoding('utf8').on('data', (text) => console.log('answered', text));
    response.on('end', () => {
      server.close();
      if (kind === 'throws') throw new Error('after the answer');
      if (kind === 'rejects') Promise.reject(new Error('nobody waits'));
      else if (kind === 'exits') process.exit(7);
      else if (kind === 'signal') process.kill(process.pid, 'SIGTERM');
      else setTimeout(() => process.exit(0), 50);
    });
  });
});
