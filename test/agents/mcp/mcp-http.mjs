// Calls the tools of a server over HTTP, which answers with events or with JSON: node mcp-http.mjs events|json.
import { createServer } from 'node:http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { addWeatherTools } from './weather-tools.mjs';

const http = createServer(async (request, response) => {
  const server = new McpServer({ name: 'weather', version: '1.0.0' });
  addWeatherTools(server);
  const enableJsonResponse = process.argv[2] === 'json';
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse });
  await server.connect(transport);
  await transport.handleRequest(request, response);
}).listen(0, '127.0.0.1', async () => {
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${http.address().port}/mcp`)),
  );
  const { content } = await client.callTool({ name: 'get_weather', arguments: { city: 'Oslo' } });
  const failed = await client.callTool({ name: 'fail', arguments: {} });
  console.log('ANSWER', content[0].text, failed.isError);
  process.exit();
});
