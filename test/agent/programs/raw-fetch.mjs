// Talks to the mock server with fetch alone, in the form that the first argument names.
const [, , api, stream = 'whole'] = process.argv;
const url = process.env.MODEL_URL;
const isStream = stream === 'stream';
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
try {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer sk-aaaaaaaaaaaa' },
    body: JSON.stringify({ model: 'model-1', stream: isStream, temperature: 0.5, ...body }),
  });
  const text = await response.text();
  console.log(response.status, text.length);
} catch (error) {
  console.log('failed', error.name, error.message);
}
