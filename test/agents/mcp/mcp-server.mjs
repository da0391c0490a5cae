// A small MCP server over standard streams: one tool that answers, one that fails, one that never does.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { addWeatherTools } from './weather-tools.mjs';

const server = new McpServer({ name: 'weather', version: '1.0.0' });
addWeatherTools(server);
server.registerTool('hang', { description: 'Never answers', inputSchema: {} }, () => new Promise(() => {}));
console.error('weather server is up');
await server.connect(new StdioServerTransport());
