// A host of its own making: it writes `initialize` in the tick in which it starts the server, and says what it can see of
// the child; then calls a tool and ends.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const child = spawn(process.execPath, [new URL('./mcp-server.mjs', import.meta.url).pathname], {
  stdio: ['pipe', 'pipe', 'ignore'],
});
const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
send({
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1.0.0' } },
});
console.log(
  Object.keys(child).join(),
  JSON.stringify(Object.getOwnPropertyDescriptor(child, 'stdin').writable),
);
const silent = spawn('no-such-program', { stdio: 'ignore' }).on('error', ({ code }) => console.log(code));
console.log(silent.stdin, Object.keys(silent).join());

for await (const line of createInterface({ input: child.stdout })) {
  const { id, result } = JSON.parse(line);
  if (id === 1) {
    send({ method: 'notifications/initialized' });
    send({ id: 2, method: 'tools/call', params: { name: 'get_weather', arguments: { city: 'Oslo' } } });
  } else if (id === 2) {
    console.log('ANSWER', result.content[0].text);
    child.stdin.end();
  }
}
