// Prints what a program can see of its node:http2 streams: the same with and without the preload.
import http2 from 'node:http2';

const server = http2.createServer((request, response) => {
  if (request.url === '/reset') return request.stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
  if (request.url === '/empty') return response.writeHead(204).end();
  request.resume().on('end', () => response.end('{"a":1}'));
});
server.listen(0, '127.0.0.1', async () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  const session = http2.connect(url);
  await new Promise((resolve) => session.once('connect', resolve));
  const lookAt = (stream) => [
    Object.keys(stream),
    JSON.stringify(stream.eventNames().map((name) => [String(name), stream.listenerCount(name)])),
    stream.readableFlowing,
    stream.readableLength,
    stream.listenerCount('data'),
  ];
  const ask = (headers, body) =>
    new Promise((resolve) => {
      const stream = session.request(headers);
      const seen = [lookAt(stream)];
      stream.on('response', () => seen.push(lookAt(stream)));
      stream.on('error', (error) => seen.push(clean(error)));
      stream.on('close', () => resolve([...seen, stream.rstCode, stream.destroyed]));
      setTimeout(() => {
        seen.push(lookAt(stream));
        stream.resume();
      }, 300);
      if (body !== undefined) stream.end(body);
    });
  const clean = (error) =>
    `${error.name} ${error.code} ${String(error.stack).replaceAll(/:\d+(:\d+)?/g, '')}`;
  const post = { ':method': 'POST', ':path': '/v1/chat/completions' };
  const seen = {
    connect: [http2.connect.name, http2.connect.length, Object.keys(http2).length],
    post: await ask(post, '{"model":"m","messages":[]}'),
    get: await ask({ ':path': '/' }),
    empty: await ask({ ':path': '/empty' }),
    reset: await ask({ ':path': '/reset' }),
    session: [session.eventNames().map(String), Object.keys(session).length],
    process: process.eventNames().map((name) => [String(name), process.listenerCount(name)]),
  };
  const refused = http2.connect('http://127.0.0.1:9');
  refused.on('error', () => {});
  seen.refused = await new Promise((resolve) =>
    refused.request({ ':path': '/' }).on('error', (error) => resolve(clean(error))),
  );
  console.log(JSON.stringify(seen, null, 1).replaceAll(url, 'URL'));
  session.close();
  setTimeout(() => server.close(), 400);
});
