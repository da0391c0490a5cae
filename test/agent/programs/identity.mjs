// Prints what a host program can see of its surroundings: the same with and without the preload.
import { EventEmitter } from 'node:events';
import http from 'node:http';

const server = http.createServer((request, response) => {
  request.resume().on('end', () => (request.url === '/cut' ? response.destroy() : response.end('{}')));
});
server.listen(0, async () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  const seen = {
    fetch: [
      fetch.name,
      fetch.length,
      String(fetch).length,
      Object.getOwnPropertyDescriptor(globalThis, 'fetch').writable,
    ],
    globals: Object.keys(globalThis).length,
    listeners: process.eventNames().map((name) => [String(name), process.listenerCount(name)]),
    resources: process.getActiveResourcesInfo().sort(),
    http: [http.ClientRequest.name, http.request.length, http.ClientRequest.length],
  };
  const clean = (error) =>
    `${error.name} ${error.message} ${error.cause?.code} ${String(error.stack)
      .replaceAll(/:\d+(:\d+)?/g, '')
      .replaceAll(url, '')}`;
  for (const [name, init] of [
    ['/v1/chat/completions', { method: 'POST', body: '{}' }],
    ['/cut', { method: 'POST', body: '{}' }],
    ['/v1/messages', { method: 'POST', body: '{}', signal: AbortSignal.abort() }],
    ['\0bad', { method: 'NO WAY' }],
  ])
    seen[`fetch ${name}`] = await fetch(url + name, init).then((r) => r.status, clean);
  seen.refused = await fetch('http://127.0.0.1:9/v1/messages', { method: 'POST', body: '{}' }).catch(clean);
  const response = await new Promise((resolve) => {
    const request = http.request(`${url}/v1/chat/completions`, { method: 'POST' }, resolve);
    seen.request = [
      Object.keys(request).length,
      request.listenerCount('response'),
      request.eventNames().map(String),
    ];
    request.end('{}');
  });
  seen.response = [Object.keys(response).length, response.eventNames().map(String), response.readableFlowing];
  response.resume();
  await new Promise((resolve) => response.on('close', resolve));
  seen.hidden = await new Promise((resolve) =>
    http.get(`${url}/cut`).on('error', (error) => resolve(clean(error))),
  );
  seen.emitter = [EventEmitter.prototype.emit.name, EventEmitter.prototype.emit.length];
  console.log(
    JSON.stringify(seen, null, 1)
      .replaceAll(url, 'URL')
      .replaceAll(/127\.0\.0\.1:\d+/g, 'HOST'),
  );
  // Requests that are no model calls are written a moment later.
  setTimeout(() => server.close().closeAllConnections(), 400);
});
