/**
 * `agentdump/resume`: a multi-step run of the AI SDK, of OpenAI Agents, or of anything that asks its model by `fetch`,
 * goes on after a death where it was: model calls and tools that had ended are not repeated.
 */
import { resolve } from 'node:path';
import { makeFetch } from './fetch.ts';
import { RunMemory } from './run-memory.ts';
import { type DoubtPolicy, once, rememberTool } from './tools.ts';

export type { DoubtfulCall, DoubtPolicy } from './tools.ts';

export interface ResumeOptions {
  /** Folder of the runs; their files are for the owner only. Without a key they hold replies and results in the clear. */
  dir: string;
  /** Names the run: the same in the process that goes on with it. */
  id: string;
  /** For a tool that was started and not ended. Default `retry`. */
  inDoubt?: DoubtPolicy;
  /** 32 bytes, or a text of them, that seal what is remembered. Default: AGENTDUMP_RUN_KEY. */
  key?: string | Uint8Array;
  /** What asks for real; the global one by default. */
  fetch?: typeof globalThis.fetch;
}

export interface ResumableRun {
  /** For the client of the model: `createOpenAI({fetch})`, `new OpenAI({fetch})`. */
  fetch: typeof globalThis.fetch;
  /** Tools of the AI SDK (by name) or of OpenAI Agents (a list), with results that are remembered. */
  tools<Tools extends Record<string, object> | readonly (object & { name: string })[]>(tools: Tools): Tools;
  /** Any other piece of work with a JSON result. */
  once<Result>(name: string, argument: unknown, work: () => Result): Promise<Awaited<Result>>;
  /** Lets another process go on with the run. */
  close(): void;
}

/**
 * Throws `unwritable` when another process has the run, or the folder can't be written; `locked` when it is sealed and the key
 * is missing or another one.
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
