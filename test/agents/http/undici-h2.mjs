// A model call with the npm package undici by HTTP/2: node undici-h2.mjs.
import { H2CClient } from 'undici';

const client = new H2CClient(process.env.MODEL_URL);
const { statusCode, body } = await client.request({
  method: 'POST',
  path: '/v1/chat/completions',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'model-1', messages: [{ role: 'user', content: 'hello' }] }),
});
console.log(statusCode, (await body.text()).length);
await client.close();
