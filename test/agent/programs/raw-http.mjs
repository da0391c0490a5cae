// As raw-fetch.mjs, with node:http: a body in pieces, or in one end() when the third argument says so.
import http from 'node:http';

const [, , api, stream = 'whole', how = 'pieces'] = process.argv;
const bodies = {
  chat: [
    '/v1/chat/completions',
    {
      messages: [
        { role: 'system', content: 'be kind' },
        { role: 'user', content: 'hello' },
      ],
    },
  ],
  responses: ['/v1/responses', { instructions: 'be kind', input: 'hello' }],
  messages: [
    '/v1/messages',
    { max_tokens: 9, system: 'be kind', messages: [{ role: 'user', content: 'hello' }] },
  ],
};
const [path, body] = bodies[api];
const text = JSON.stringify({ model: 'model-1', stream: stream === 'stream', temperature: 0.5, ...body });
const request = http.request(
  process.env.MODEL_URL + path,
  { method: 'POST', headers: { 'content-type': 'application/json' } },
  (response) => {
    let length = 0;
    response.on('data', (chunk) => {
      length += chunk.length;
    });
    response.on('end', () => console.log(response.statusCode, length));
    response.on('error', (error) => console.log('failed', error.message));
  },
);
request.on('error', (error) => console.log('failed', error.message));
if (how === 'pieces') {
  request.write(text.slice(0, 10));
  request.write(Buffer.from(text.slice(10)));
  request.end();
} else request.end(text);
