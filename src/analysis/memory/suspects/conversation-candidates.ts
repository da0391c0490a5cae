/**
 * Conversations that were not recorded, found in the heap by the shape of messages and marked as inferred. If the snapshot's
 * strings were withheld, only the shape is known.
 */
import type { ConversationCandidate } from '../../../model/agent-state.ts';
import type { Heap } from '../heap.ts';
import { elementNodes } from '../questions/heap-value.ts';
import { pathText } from '../questions/paths.ts';
import { computeAgentMemory, textProperty } from './agent-memory.ts';

const mostCandidates = 3;
const mostShown = 10;

export function findConversationCandidates(heap: Heap): ConversationCandidate[] {
  const { conversations } = computeAgentMemory(heap);
  return [...conversations]
    .sort((a, b) => b.messages - a.messages || b.bytes - a.bytes)
    .slice(0, mostCandidates)
    .map(({ node, messages, bytes }) => {
      const shown = lastMessages(heap, node);
      return { inferred: true, path: pathText(heap, node), messages, bytes, ...(shown.length && { shown }) };
    });
}

/** The last messages, as far as the snapshot contains their texts. */
function lastMessages(heap: Heap, array: number): { role: string; content: string }[] {
  return elementNodes(heap, array)
    .slice(-mostShown)
    .map((node) => ({ role: textProperty(heap, node, 'role'), content: textProperty(heap, node, 'content') }))
    .filter(({ role, content }) => saysSomething(`${role}${content}`));
}

/** Whether anything remains besides the redactor's placeholders and the digits between them. */
const saysSomething = (text: string) => text.replace(/\[redacted[^\]]*\]|\d/g, '') !== '';
