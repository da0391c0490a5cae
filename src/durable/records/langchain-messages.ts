/**
 * LangChain's messages as values of durable runs: their constructors accept the fields that they have. (`toDict` is no
 * substitute, because it makes JSON of them.)
 */
import { registerClass } from './classes.ts';

type MessageClass = new (fields: unknown) => object;

const abstractClasses = new Set(['BaseMessage', 'BaseMessageChunk']);

/** `messages`: the module `@langchain/core/messages` that the program uses. */
export function registerLangChainMessages(messages: object): void {
  for (const [name, found] of Object.entries(messages)) {
    if (!isMessageClass(found) || abstractClasses.has(name)) continue;
    registerClass(found, {
      name: `langchain/${name}`,
      to: fieldsOf,
      from: (fields) => new found(fields),
    });
  }
}

/** Without what LangChain's own serialization adds. */
function fieldsOf(message: object): Record<string, unknown> {
  const fields = Object.entries(message).filter(
    ([name, value]) => !name.startsWith('lc_') && value !== undefined,
  );
  return Object.fromEntries(fields);
}

function isMessageClass(value: unknown): value is MessageClass {
  return typeof value === 'function' && typeof value.prototype?.toDict === 'function';
}
