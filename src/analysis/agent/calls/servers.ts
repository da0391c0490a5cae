/** The MCP servers that an agent used, and how they ended, if they did. */
import type { AgentEvent } from '../../../journal/layout/agent.ts';
import type { McpServer } from '../../../model/agent-state.ts';
import { dropUndefined } from '../drop-undefined.ts';

/** `at` is the time of death. */
export function computeServers(events: readonly AgentEvent[], at: number): McpServer[] {
  const servers = new Map<string, McpServer>();
  for (const event of events)
    if (event.kind === 'mcp.start') {
      const { server: id, transport, command, pid } = event;
      servers.set(id, dropUndefined({ id, transport, command, pid }));
    } else if (event.kind === 'mcp.end') {
      const { server: id, exitCode, signal, stderr, error } = event;
      const ended = dropUndefined({ beforeEndMs: at - event.at, exitCode, signal, stderr, error });
      servers.set(id, { ...(servers.get(id) ?? { id }), ended });
    } else if (event.kind === 'mcp.message' && event.direction === 'received') {
      const server = servers.get(event.server);
      // A server that could not be reached may be reachable again later.
      delete server?.ended;
      if (server && event.unreadable !== undefined) {
        const { times = 0 } = server.unreadable ?? {};
        server.unreadable = {
          line: event.unreadable,
          times: times + 1,
          beforeEndMs: Math.max(0, at - event.at),
        };
      }
    }
  return [...servers.values()];
}
