/**
 * Tools whose results are remembered. Tools of the AI SDK have `execute(input, options)`, those of OpenAI Agents
 * `invoke(context, input)`; the copy of a tool differs only in that function.
 */
import { AgentdumpError } from '../errors.ts';
import type { ToolEndRecord } from './layout.ts';
import type { RunMemory } from './run-memory.ts';

export interface DoubtfulCall {
  name: string;
  arguments: unknown;
}

/**
 * What to do with a call that was started but not ended: run it again, fail, or call a function that checks whether the
 * effect took place and returns the result.
 */
export type DoubtPolicy = 'retry' | 'fail' | ((call: DoubtfulCall) => unknown);

// biome-ignore lint/suspicious/noExplicitAny: tools of every framework and of every argument
type AnyFunction = (...words: any[]) => unknown;

/** The index of the argument that contains the call's input. */
const runners = { execute: 0, invoke: 1 } as const;

export function rememberTool<Tool extends object>(
  memory: RunMemory,
  name: string,
  tool: Tool,
  inDoubt: DoubtPolicy,
): Tool {
  const copy = Object.create(Object.getPrototypeOf(tool), Object.getOwnPropertyDescriptors(tool)) as Tool;
  for (const [field, at] of Object.entries(runners)) {
    const run = (tool as Record<string, unknown>)[field];
    if (typeof run !== 'function') continue;
    const value = (...words: unknown[]) =>
      once(memory, { name, arguments: words[at] }, () => (run as AnyFunction).apply(tool, words), inDoubt);
    Object.defineProperty(copy, field, { value, enumerable: true, writable: true, configurable: true });
  }
  return copy;
}

/** Runs `work` unless its result is known. Throws the remembered error if it failed. */
export async function once(
  memory: RunMemory,
  asked: DoubtfulCall,
  work: () => unknown,
  inDoubt: DoubtPolicy,
): Promise<unknown> {
  const call = memory.next('tool', asked);
  const known = memory.findToolEnd(call);
  if (known) return resultOf(known);
  const isInDoubt = memory.isInDoubt(call);
  if (isInDoubt && inDoubt === 'fail') throw doubtful(asked);
  memory.keepToolStart({ ...call, ...asked });
  let end: ToolEndRecord;
  try {
    const result = isInDoubt && typeof inDoubt === 'function' ? await inDoubt(asked) : await work();
    end = result === undefined ? call : { ...call, result: plain(asked.name, result) };
  } catch (error) {
    const { name = 'Error', message = String(error) } = error as Error;
    memory.keepToolEnd({ ...call, error: { name, message } });
    throw error;
  }
  memory.keepToolEnd(end);
  return resultOf(end);
}

function resultOf({ result, error }: ToolEndRecord): unknown {
  if (error) throw Object.assign(new Error(error.message), { name: error.name });
  return result;
}

/** The value as it will be after a resume, so that a result that JSON changes is noticed in the first run. */
function plain(name: string, value: unknown): unknown {
  const text = JSON.stringify(value);
  if (text === undefined)
    throw new AgentdumpError('usage', `the result of tool ${name} can't be kept: it is no JSON`, {
      argument: name,
    });
  return JSON.parse(text);
}

function doubtful({ name }: DoubtfulCall): AgentdumpError {
  const message = `tool ${name} was started by a process that died, and whether it had its effect is not known`;
  return new AgentdumpError('usage', message, { argument: 'inDoubt', tool: name });
}
