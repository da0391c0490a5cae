// What the programs of the life benchmark talk to, in a process of its own: GET gives a short text; a POST gives a model's
// stream, in the shape of the path, of as many tokens as `x-tokens` says, one write each, `x-pause` milliseconds apart (0: in
// successive turns of the loop). GET /ask?port=&count= asks that server so often, 20 at once, and then answers. The port is
// the first line of stdout.
import { Agent, createServer, request as send } from 'node:http';

const json = (value) => JSON.stringify(value);
const chatChunk = (delta, finish_reason = null) =>
  `data: ${json({ id: 'chatcmpl-1', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const event = (value) => `event: ${value.type}\ndata: ${json(value)}\n\n`;

const shapes = {
  openai: {
    before: chatChunk({ role: 'assistant', content: '' }),
    token: (i) => chatChunk({ content: `word${i % 100} ` }),
    after: `${chatChunk({}, 'stop')}data: [DONE]\n\n`,
  },
  anthropic: {
    before:
      event({
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 9, output_tokens: 1 },
        },
      }) + event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    token: (i) =>
      event({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text: `word${i % 100} ` },
      }),
    after:
      event({ type: 'content_block_stop', index: 0 }) +
      event({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 9 },
      }) +
      event({ type: 'message_stop' }),
  },
};

function stream(request, response) {
  const { before, token, after } = request.url.endsWith('/messages') ? shapes.anthropic : shapes.openai;
  const tokens = Number(request.headers['x-tokens']);
  const pauseMs = Number(request.headers['x-pause']);
  response.socket.setNoDelay(true);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(before);
  let sent = 0;
  const next = () => {
    if (response.destroyed) return;
    if (sent === tokens) return response.end(after);
    response.write(token(sent++));
    if (pauseMs > 0) setTimeout(next, pauseMs);
    else setImmediate(next);
  };
  next();
}

const keepAlive = new Agent({ keepAlive: true, maxSockets: 20 });
const order = json({ lines: Array.from({ length: 30 }, (_, i) => ({ name: `item-${i}`, count: i })) });
const asJson = { 'content-type': 'application/json' };
const askOnce = (port) =>
  new Promise((resolve, reject) => {
    send(
      { agent: keepAlive, method: 'POST', host: '127.0.0.1', port, path: '/order', headers: asJson },
      (response) => response.resume().on('end', resolve),
    )
      .on('error', reject)
      .end(order);
  });

async function ask(request, response) {
  const { searchParams } = new URL(request.url, 'http://here');
  const [port, count] = [Number(searchParams.get('port')), Number(searchParams.get('count'))];
  await Promise.all(Array.from({ length: count }, () => askOnce(port)));
  response.end('done\n');
}

const server = createServer((request, response) => {
  if (request.url.startsWith('/ask')) return void ask(request, response);
  if (request.method === 'POST') request.resume().on('end', () => stream(request, response));
  else response.end('a short answer\n');
});
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
