/**
 * The results of LangChain's steps and tools in the form in which they are recorded. A LangChain message contains its
 * constructor arguments a second time, under names that begin with `lc_`. Calls no getter, and nothing of the host's except
 * traps of a proxy.
 */
import { isObject } from '../calls/json.ts';

const longestList = 1000;

/** The depth of messages in what a node changes in the state: lists of messages by channel name. */
const depthOfMessages = 3;

/** The result, with the fields of each message only once. */
export function stepResult(output: unknown): unknown {
  try {
    return withoutCopies(output, depthOfMessages);
  } catch {
    return output;
  }
}

function withoutCopies(value: unknown, depth: number): unknown {
  if (depth === 0 || !isObject(value)) {
    const isList = depth > 0 && Array.isArray(value) && value.length <= longestList;
    return isList ? value.map((one) => withoutCopies(one, depth - 1)) : value;
  }
  const isMessage = Object.hasOwn(value, 'lc_kwargs');
  if (!isMessage && Object.getPrototypeOf(value) !== Object.prototype) return value;
  const out = {};
  for (const [name, field] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    if (isMessage && name.startsWith('lc_')) continue;
    const brief = 'value' in field ? { ...field, value: withoutCopies(field.value, depth - 1) } : field;
    Object.defineProperty(out, name, brief);
  }
  return out;
}

/** Tools return text or a ToolMessage. */
export function toolResult(output: unknown): unknown {
  return isObject(output) && 'content' in output ? output['content'] : output;
}
