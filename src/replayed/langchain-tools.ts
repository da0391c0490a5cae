/**
 * Returns recorded results from the tools of LangChain and LangGraph. The class that runs them can't be reached from outside,
 * so a line appended to its module hands it over. The work of each tool is replaced when it is first called, beneath
 * LangChain's callbacks, checks and messages. A copy inside of a bundled program is not seen. Seen in @langchain/core 1.4.0.
 */
import { appendToModules } from './appended-source.ts';
import { outcomeOf, takeTool } from './tools.ts';

type Work = (...words: unknown[]) => unknown;
interface Tool {
  name: string;
  responseFormat?: string;
  call: Work;
  _call: Work;
}

const handOver = 'agentdump.replay.langchain';

export function offerToolsToLangChain(names: readonly string[]): void {
  if (names.length === 0) return;
  Object.defineProperty(globalThis, Symbol.for(handOver), { value: prepare });
  const line = `;globalThis[Symbol.for(${JSON.stringify(handOver)})]?.(StructuredTool);`;
  appendToModules(/[\\/]@langchain[\\/]core[\\/]dist[\\/]tools[\\/]index\.c?js$/, line);
}

const prepared = new WeakSet<object>();

function prepare({ prototype }: { prototype: Tool }): void {
  if (prepared.has(prototype)) return;
  prepared.add(prototype);
  const { call } = prototype;
  prototype.call = function (this: Tool, ...words: unknown[]) {
    answer(this);
    return call.apply(this, words);
  };
}

function answer(tool: Tool): void {
  if (prepared.has(tool)) return;
  prepared.add(tool);
  const work = tool._call;
  tool._call = async (...words: unknown[]) => {
    const known = takeTool(tool.name);
    if (!known) return work.apply(tool, words);
    const content = outcomeOf(known);
    return tool.responseFormat === 'content_and_artifact' ? [content, undefined] : content;
  };
}
