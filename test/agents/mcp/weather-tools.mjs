// The tools of the MCP servers: one that answers, one that fails.
import { z } from 'zod';
import { weather } from '../weather.mjs';

export function addWeatherTools(server) {
  server.registerTool(
    'get_weather',
    { description: 'Weather of a city', inputSchema: { city: z.string() } },
    async (input) => ({ content: [{ type: 'text', text: weather(input) }] }),
  );
  server.registerTool('fail', { description: 'Fails', inputSchema: {} }, async () => {
    throw new Error('no weather today');
  });
}
