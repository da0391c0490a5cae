/** Arrays of messages that are never trimmed: an agent's conversation, or all conversations it ever had. */
import { formatBytes, formatCount, formatNumber } from '../../../model/quantities.ts';
import type { Heap } from '../heap.ts';
import { generalPath } from '../questions/paths.ts';
import {
  type AgentMemory,
  type Conversation,
  computeAgentMemory,
  textProperty,
} from '../suspects/agent-memory.ts';
import { type SuspectRule, shareText, suspectAt } from '../suspects/suspect-context.ts';

const leastShare = 0.05;
/** A conversation that is kept within a limit has fewer messages, and a program that lets go of those that are over has fewer of them. */
const fewestMessages = 100;
const fewestConversations = 1000;

export const conversationsRule: SuspectRule = {
  name: 'conversations',
  find(context) {
    const { heap, totalBytes } = context;
    const { conversations }: AgentMemory = computeAgentMemory(heap);
    return [...groupByPlace(heap, conversations)]
      .map(([place, group]) => ({
        place,
        group,
        bytes: sum(group, 'bytes'),
        messages: sum(group, 'messages'),
      }))
      .filter(({ bytes }) => bytes >= totalBytes * leastShare)
      .filter(
        ({ group }) =>
          context.tellsAll ||
          group.length >= fewestConversations ||
          group.some(({ messages }) => messages >= fewestMessages),
      )
      .sort((a, b) => b.bytes - a.bytes)
      .slice(0, 4)
      .map(({ place, group, bytes, messages }) => {
        const largest = group[0]!;
        const many = group.length === 1 ? 'one conversation' : `${formatNumber(group.length)} conversations`;
        return suspectAt(context, 'conversations', largest.node, bytes, {
          title: `${many} with ${formatNumber(messages)} messages: ${shareText(bytes, context)}`,
          sentence: `${shareText(bytes, context)} is ${formatNumber(messages)} messages in ${many} retained by ${place}: summarise or drop old turns, and let go of conversations that are over.`,
          confidence: 'likely',
          evidence: [
            `${formatCount(messages, 'object')} with the properties of a chat message, in ${formatCount(group.length, 'array')}`,
            `the largest has ${largest.messages} messages and ${formatBytes(largest.bytes)}${ownerText(heap, largest.node)}`,
          ],
          refutedBy:
            "All of these conversations are still going on, and each is within the model's context window.",
        });
      });
  },
};

/** By path without element indexes, so that the messages of a thousand sessions are one group. */
function groupByPlace(heap: Heap, conversations: Conversation[]): Map<string, Conversation[]> {
  const groups = new Map<string, Conversation[]>();
  // Each path costs a walk; after 400, the others are added to the largest conversation's group.
  for (const [at, conversation] of conversations.entries()) {
    const place = at < 400 ? generalPath(heap, conversation.node) : [...groups.keys()][0]!;
    const group = groups.get(place) ?? [];
    group.push(conversation);
    groups.set(place, group);
  }
  return groups;
}

function ownerText(heap: Heap, array: number): string {
  const owner = heap.tree.dominator[array]!;
  for (const key of ['conversationId', 'sessionId', 'threadId', 'runId', 'id', 'name']) {
    const text = textProperty(heap, owner, key);
    if (text) return `, of ${heap.className(owner)} with ${key} ${JSON.stringify(text.slice(0, 60))}`;
  }
  return '';
}

function sum(group: Conversation[], key: 'bytes' | 'messages'): number {
  return group.reduce((total, conversation) => total + conversation[key], 0);
}
