// A small MCP server over standard streams: one tool that answers, one that fails, one that never does.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';
import { weather } from '../weather.mjs';

const server = new McpServer({ name: 'weather', version: '1.0.0' });
server.registerTool(
  'get_weather',
  { description: 'Weather of a city', inputSchema: { city: z.string() } },
  async (input) => ({ content: [{ type: 'text', text: weather(input) }] }),
);
server.registerTool('fail', { description: 'Fails', inputSchema: {} }, async () => {
  throw new Error('no weather today');
});
server.registerTool('hang', { description: 'Never answers', inputSchema: {} }, () => new Promise(() => {}));
console.error('weather server is up');
await server.connect(new StdioServerTransport());
