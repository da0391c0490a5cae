// As raw-http.mjs, with node:http2: a model call, whole or streamed; `cancel` and `close` hang up at its first piece.
import http2 from 'node:http2';

const [, , api, stream = 'whole', how = 'pieces'] = process.argv;
const bodies = {
  chat: ['/v1/chat/completions', { messages: [{ role: 'user', content: 'hello ü' }] }],
  responses: ['/v1/responses', { instructions: 'be kind', input: 'hello' }],
  messages: ['/v1/messages', { max_tokens: 9, messages: [{ role: 'user', content: 'hello' }] }],
};
const [path, body] = bodies[api];
const text = JSON.stringify({ model: 'model-1', stream: stream === 'stream', temperature: 0.5, ...body });
const session = http2.connect(process.env.MODEL_URL);
session.on('error', (error) => console.log('session', error.message));
const request = session.request({
  ':method': 'POST',
  ':path': path,
  'Content-Type': 'application/json',
  authorization: 'Bearer sk-aaaaaaaaaaaaaaaa',
});
let status;
let length = 0;
request.on('response', (headers) => {
  status = headers[':status'];
});
request.on('data', (chunk) => {
  length += chunk.length;
  if (how === 'cancel') request.close(http2.constants.NGHTTP2_CANCEL);
  else if (how === 'close') request.close();
});
request.on('error', (error) => console.log('failed', error.message));
request.on('close', () => {
  console.log(status, length);
  session.close();
});
if (how === 'pieces') {
  request.write(Buffer.from(text.slice(0, 10)).toString('hex'), 'hex');
  request.write(Buffer.from(text.slice(10)));
  request.end();
} else request.end(text);
