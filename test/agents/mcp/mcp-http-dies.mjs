// A client of the MCP server at MCP_URL that dies of what its tool returns.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const client = new Client({ name: 'test', version: '1.0.0' });
await client.connect(new StreamableHTTPClientTransport(new URL(process.env.MCP_URL)));
const { content } = await client.callTool({ name: 'get_weather', arguments: { city: 'Oslo' } });
console.log(JSON.parse(content[0].text).days[0].degrees);
