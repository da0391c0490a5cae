// Calls the tools of mcp-server.mjs: node mcp-client.mjs [hang].
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const client = new Client({ name: 'test', version: '1.0.0' });
const command = process.execPath;
const args = [new URL('./mcp-server.mjs', import.meta.url).pathname];
await client.connect(new StdioClientTransport({ command, args, stderr: 'pipe' }));
const { content } = await client.callTool({ name: 'get_weather', arguments: { city: 'Oslo' } });
const failed = await client.callTool({ name: 'fail', arguments: {} });
console.log('ANSWER', content[0].text, failed.isError);
if (process.argv[2] === 'hang') {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), 100);
  await client.callTool({ name: 'hang', arguments: {} });
}
await client.close();
