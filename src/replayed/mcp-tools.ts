/**
 * Calls of tools of an MCP server that is a child process and speaks JSON-RPC on its standard streams. A child is one if the
 * first thing written to it is an `initialize` request.
 */
import type { ChildProcess } from 'node:child_process';

const initialize = /^\s*\{[^\n]*"method"\s*:\s*"initialize"/;
/** A longer message than this is not read. */
const longestLine = 1_000_000;

/** `called` receives the names of tools before the server does. */
export function watchMcpTools({ stdin }: ChildProcess, called: (tool: string) => void): void {
  if (!stdin) return;
  const own = Object.getOwnPropertyDescriptor(stdin, 'write');
  const { write } = stdin;
  let isServer: boolean | undefined;
  let rest = '';
  const watched = function (this: typeof stdin, ...args: unknown[]) {
    const [chunk] = args;
    // Anything else is an error, which the stream itself raises.
    const text = typeof chunk === 'string' ? chunk : chunk instanceof Uint8Array ? decode(chunk) : '';
    isServer ??= initialize.test(text);
    if (isServer) {
      const lines = (rest + text).split('\n');
      rest = (lines.pop() ?? '').slice(0, longestLine);
      for (const line of lines) {
        const tool = toolOf(line);
        if (tool !== undefined) called(tool);
      }
    } else if (own) Object.defineProperty(stdin, 'write', own);
    else Reflect.deleteProperty(stdin, 'write');
    return (write as (...args: unknown[]) => boolean).apply(this, args);
  };
  Object.defineProperty(stdin, 'write', {
    value: watched,
    configurable: true,
    writable: true,
    enumerable: own?.enumerable ?? false,
  });
}

const decode = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();

/** The tool that a `tools/call` request is for. */
function toolOf(line: string): string | undefined {
  if (!line.includes('tools/call')) return undefined;
  try {
    const { method, params } = JSON.parse(line) as { method?: unknown; params?: { name?: unknown } };
    return method === 'tools/call' ? String(params?.name) : undefined;
  } catch {
    return undefined;
  }
}
