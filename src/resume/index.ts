/**
 * `agentdump/resume`: resumes a multi-step run of the AI SDK, of OpenAI Agents, or of anything that calls its model through
 * `fetch`, after a death. Model calls and tool calls that had ended are not repeated.
 */
import { resolve } from 'node:path';
import { makeFetch } from './fetch.ts';
import { RunMemory } from './run-memory.ts';
import { type DoubtPolicy, once, rememberTool } from './tools.ts';

export type { DoubtfulCall, DoubtPolicy } from './tools.ts';

export interface ResumeOptions {
  /**
   * Folder of the runs, with files that only the owner can read. Without a key they contain replies and results in the clear.
   */
  dir: string;
  /** The id of the run. The process that resumes it must use the same one. */
  id: string;
  /** What to do with a tool call that was started but not ended. Default: `retry`. */
  inDoubt?: DoubtPolicy;
  /** 32 bytes, or their text form, to encrypt what is remembered. Default: AGENTDUMP_RUN_KEY. */
  key?: string | Uint8Array;
  /** Sends the actual requests. Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch;
}

export interface ResumableRun {
  /** For the model's client: `createOpenAI({fetch})`, `new OpenAI({fetch})`. */
  fetch: typeof globalThis.fetch;
  /** Wraps tools of the AI SDK (by name) or of OpenAI Agents (a list), so that their results are remembered. */
  tools<Tools extends Record<string, object> | readonly (object & { name: string })[]>(tools: Tools): Tools;
  /** Any other work with a JSON result. */
  once<Result>(name: string, argument: unknown, work: () => Result): Promise<Awaited<Result>>;
  /** Allows another process to resume the run. */
  close(): void;
}

/**
 * Throws `unwritable` if another process holds the run, or the folder can't be written; `locked` if the run is encrypted and
 * the key is missing or wrong.
 */
export function openRun({
  dir,
  id,
  inDoubt = 'retry',
  key,
  fetch = globalThis.fetch,
}: ResumeOptions): ResumableRun {
  const memory = new RunMemory(resolve(dir), id, key);
  const remember = <Tool extends object>(name: string, tool: Tool) =>
    rememberTool(memory, name, tool, inDoubt);
  return {
    fetch: makeFetch(memory, fetch),
    tools<Tools extends Record<string, object> | readonly (object & { name: string })[]>(
      tools: Tools,
    ): Tools {
      const copies = Array.isArray(tools)
        ? tools.map((tool) => remember(tool.name, tool))
        : Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, remember(name, tool)]));
      return copies as unknown as Tools;
    },
    async once<Result>(name: string, argument: unknown, work: () => Result): Promise<Awaited<Result>> {
      return (await once(memory, { name, arguments: argument }, work, inDoubt)) as Awaited<Result>;
    },
    close: () => memory.close(),
  };
}
