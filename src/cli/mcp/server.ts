/**
 * The tools as an MCP server on stdin and stdout, using the official SDK, in the old and new revisions of the protocol. An
 * error of a tool becomes an answer that suggests what to try, because the assistant can act on it.
 */
import { AgentdumpError } from '../../errors.ts';
import { version } from '../../version.ts';
import { adviceFor } from '../advice.ts';
import { fromJsonSchema, McpServer, serveStdio } from '../mcp-sdk.ts';
import { accountTools } from './account-tools.ts';
import { agentTools } from './agent-tools.ts';
import type { AllowedBundles } from './allowed-bundles.ts';
import { boundData } from './bound-data.ts';
import { asData, instructions } from './envelope.ts';
import { heapTools } from './heap-tools.ts';
import { storeTools } from './store-tools.ts';
import { bundleOf, type Tool, type ToolInput, type ToolWords } from './tool.ts';

export const tools: readonly Tool[] = [...accountTools, ...agentTools, ...heapTools, ...storeTools];

/** Serves until the client closes stdin. */
export async function serveTools(allowed: AllowedBundles): Promise<void> {
  const { stdin } = process;
  serveStdio(() => makeServer(allowed));
  await new Promise<void>((resolve) => {
    for (const end of ['end', 'close', 'error']) stdin.once(end, () => resolve());
  });
  await allowed.fleet?.close();
}

function makeServer(allowed: AllowedBundles): McpServer {
  const server = new McpServer({ name: 'agentdump', version }, { instructions });
  for (const tool of tools.filter(({ needsStore }) => !needsStore || allowed.fleet))
    server.registerTool(
      tool.name,
      {
        title: tool.title,
        description: tool.description,
        inputSchema: fromJsonSchema<ToolWords>(schemaOf(tool.input)),
        outputSchema: fromJsonSchema<Record<string, unknown>>(tool.output),
        annotations: {
          readOnlyHint: true,
          destructiveHint: false,
          idempotentHint: true,
          openWorldHint: false,
        },
      },
      (words) => answer(tool, words, allowed),
    );
  return server;
}

function schemaOf({ fields, required = [] }: ToolInput) {
  return { type: 'object' as const, properties: { ...fields }, required, additionalProperties: false };
}

async function answer(tool: Tool, words: ToolWords, allowed: AllowedBundles) {
  try {
    const { text, data } = await tool.answer(words, allowed);
    return {
      structuredContent: boundData(data),
      content: [{ type: 'text' as const, text: asData(text, `${tool.name} ${sourceOf(words)}`.trim()) }],
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const advice =
      error instanceof AgentdumpError && error.code !== 'not-found' ? adviceFor(error) : undefined;
    const text = asData([message, advice].filter(Boolean).join('\n'), `a failed ${tool.name}`);
    return { content: [{ type: 'text' as const, text }], isError: true };
  }
}

const sourceOf = (words: ToolWords): string =>
  typeof words['core'] === 'string'
    ? `of the core ${words['core'].slice(0, 200)}`
    : 'bundle' in words
      ? `of ${bundleOf(words).slice(0, 200)}`
      : '';
