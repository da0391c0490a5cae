/**
 * Repairs a conversation that a death has cut between a tool call and its result; providers refuse it with HTTP 400 on every
 * further turn. Each call without a result gets a substitute, in the provider's format and at the required position; results
 * without a call are removed. Pure; the given list is not modified. Formats: OpenAI chat completions and Responses, Anthropic
 * messages, Gemini contents.
 */
import { arrayOf, isObject, type JsonObject, objectOf, stringOf } from '../../agent/calls/json.ts';

export interface RepairedConversation<Message> {
  messages: Message[];
  form: 'openai-chat' | 'openai-responses' | 'anthropic' | 'gemini' | 'unknown';
  /** Calls that had no result, in order. */
  repaired: { id: string; name: string }[];
  /** Ids of results without a call. */
  removed: string[];
  /** The elements of `messages` that were added or completed: what must still be sent to a thread that the server stores. */
  additions: Message[];
}

export interface RepairOptions {
  /** The text of the missing results. Return the effect's outcome here if it is known. */
  resultOf?: (call: { id: string; name: string }) => string;
}

const defaultResult =
  'The call was interrupted before its result was recorded. Whether it took effect is not known: check before you try it again.';

export function repairConversation<Message extends object>(
  messages: readonly Message[],
  options: RepairOptions = {},
): RepairedConversation<Message> {
  const form = formOf(messages);
  const repair = new Repair(options.resultOf ?? (() => defaultResult));
  const fixed = repair.perform(form, messages as readonly JsonObject[]) as Message[];
  const { repaired, removed, additions } = repair;
  return { messages: fixed, form, repaired, removed, additions: additions as Message[] };
}

type Form = RepairedConversation<object>['form'];

function formOf(messages: readonly object[]): Form {
  for (const message of messages as readonly JsonObject[]) {
    const blocks = arrayOf(message['content']).map((block) => stringOf(objectOf(block)['type']));
    if (message['type'] === 'function_call' || message['type'] === 'function_call_output')
      return 'openai-responses';
    if (message['role'] === 'tool' || Array.isArray(message['tool_calls'])) return 'openai-chat';
    if (blocks.includes('tool_use') || blocks.includes('tool_result')) return 'anthropic';
    if (Array.isArray(message['parts'])) return 'gemini';
  }
  return 'unknown';
}

class Repair {
  readonly repaired: { id: string; name: string }[] = [];
  readonly removed: string[] = [];
  readonly additions: JsonObject[] = [];
  readonly #resultOf: (call: { id: string; name: string }) => string;

  constructor(resultOf: (call: { id: string; name: string }) => string) {
    this.#resultOf = resultOf;
  }

  perform(form: Form, messages: readonly JsonObject[]): JsonObject[] {
    if (form === 'openai-chat') return this.#repairChat(messages);
    if (form === 'openai-responses') return this.#repairResponses(messages);
    if (form === 'anthropic') return this.#repairAnthropic(messages);
    return form === 'gemini' ? this.#repairGemini(messages) : [...messages];
  }

  /** The results must directly follow the message with the calls, each as a message with the role `tool`. */
  #repairChat(messages: readonly JsonObject[]): JsonObject[] {
    const fixed: JsonObject[] = [];
    for (let at = 0; at < messages.length; ) {
      const message = messages[at++]!;
      if (message['role'] === 'tool') {
        this.removed.push(String(message['tool_call_id']));
        continue;
      }
      fixed.push(message);
      const open = new Map(
        arrayOf(message['tool_calls']).map((call) => {
          const id = String(objectOf(call)['id']);
          const named = objectOf(objectOf(call)['function'] ?? objectOf(call)['custom']);
          return [id, stringOf(named['name']) ?? ''];
        }),
      );
      for (; messages[at]?.['role'] === 'tool'; at++) {
        const id = String(messages[at]!['tool_call_id']);
        if (open.delete(id)) fixed.push(messages[at]!);
        else this.removed.push(id);
      }
      for (const [id, name] of open)
        this.#add(fixed, { role: 'tool', tool_call_id: id, content: this.#answer(id, name) });
    }
    return fixed;
  }

  /** A call's output may be anywhere after it; missing ones are added directly after the call. */
  #repairResponses(items: readonly JsonObject[]): JsonObject[] {
    const outputOf: Record<string, string> = {
      function_call: 'function_call_output',
      custom_tool_call: 'custom_tool_call_output',
    };
    const idOf = (item: JsonObject) => String(item['call_id']);
    const isOutput = (item: JsonObject) => Object.values(outputOf).includes(String(item['type']));
    const answered = new Set(items.filter(isOutput).map(idOf));
    const asked = new Set<string>();
    const fixed: JsonObject[] = [];
    for (const item of items) {
      const output = outputOf[String(item['type'])];
      if (isOutput(item) && !asked.has(idOf(item))) {
        this.removed.push(idOf(item));
        continue;
      }
      fixed.push(item);
      if (!output) continue;
      asked.add(idOf(item));
      if (answered.has(idOf(item))) continue;
      const text = this.#answer(idOf(item), stringOf(item['name']) ?? '');
      this.#add(fixed, { type: output, call_id: idOf(item), output: text });
    }
    return fixed;
  }

  /** The results must be first in the following user message; if there is none, they become a message of their own. */
  #repairAnthropic(messages: readonly JsonObject[]): JsonObject[] {
    const fixed: JsonObject[] = [];
    let open = new Map<string, string>();
    for (const message of [...messages, undefined]) {
      const isReply = message?.['role'] === 'user';
      const given = isReply ? this.#takeResults(message, open) : message;
      const missing = [...open].map(([id, name]) => ({
        type: 'tool_result',
        tool_use_id: id,
        is_error: true,
        content: this.#answer(id, name),
      }));
      if (missing.length && !isReply) this.#add(fixed, { role: 'user', content: missing });
      else if (missing.length && given)
        this.#add(fixed, { ...given, content: [...missing, ...blocksOf(given)] });
      else if (given && (given === message || blocksOf(given).length)) fixed.push(given);
      if (missing.length && !isReply && message) fixed.push(message);
      open = new Map(
        (message?.['role'] === 'assistant' ? blocksOf(message) : [])
          .filter(({ type }) => type === 'tool_use')
          .map(({ id, name }) => [String(id), stringOf(name) ?? '']),
      );
    }
    return fixed;
  }

  /** The message without results that have no call; removes the calls that it answers from `open`. */
  #takeResults(message: JsonObject, open: Map<string, string>): JsonObject {
    const blocks = blocksOf(message);
    const kept = blocks.filter((block) => {
      if (block['type'] !== 'tool_result' || open.delete(String(block['tool_use_id']))) return true;
      this.removed.push(String(block['tool_use_id']));
      return false;
    });
    return kept.length === blocks.length ? message : { ...message, content: kept };
  }

  /** Calls may have no ids: the reply must have as many `functionResponse` parts, in the order of the calls. */
  #repairGemini(contents: readonly JsonObject[]): JsonObject[] {
    const fixed: JsonObject[] = [];
    for (let at = 0; at < contents.length; at++) {
      const content = contents[at]!;
      fixed.push(content);
      const calls = partsOf(content, 'functionCall');
      const next = contents[at + 1];
      const responses = next ? partsOf(next, 'functionResponse') : [];
      if (calls.length <= responses.length) continue;
      const missing = calls.slice(responses.length).map((call) => {
        const name = stringOf(call['name']) ?? '';
        const id = stringOf(call['id']);
        const response = { error: this.#answer(id ?? name, name) };
        return { functionResponse: { ...(id !== undefined && { id }), name, response } };
      });
      if (next && responses.length) {
        at++;
        this.#add(fixed, { ...next, parts: [...arrayOf(next['parts']), ...missing] });
      } else this.#add(fixed, { role: 'user', parts: missing });
    }
    return fixed;
  }

  #answer(id: string, name: string): string {
    this.repaired.push({ id, name });
    return this.#resultOf({ id, name });
  }

  #add(fixed: JsonObject[], message: JsonObject): void {
    fixed.push(message);
    this.additions.push(message);
  }
}

function blocksOf(message: JsonObject): JsonObject[] {
  const { content } = message;
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return arrayOf(content).filter(isObject);
}

function partsOf(content: JsonObject, field: string): JsonObject[] {
  return arrayOf(content['parts']).flatMap((part) => {
    const found = objectOf(part)[field];
    return isObject(found) ? [found] : [];
  });
}
