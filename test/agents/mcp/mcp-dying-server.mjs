// An MCP server that dies of its first tool call, with a word on stderr.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'weather', version: '1.0.0' });
server.registerTool(
  'get_weather',
  { description: 'Weather', inputSchema: { city: z.string() } },
  async () => {
    console.error('fatal: the station list is corrupt');
    process.exit(7);
  },
);
await server.connect(new StdioServerTransport());
// Whatever arrives is more than it bears: a large message would otherwise be read whole first.
process.stdin.on('data', (chunk) => {
  if (chunk.length < 60_000) return;
  console.error('fatal: the message is too large');
  process.exit(7);
});
