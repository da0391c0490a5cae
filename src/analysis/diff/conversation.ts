/** Where two conversations diverge: the first message that differs in role or content. Call ids are not compared. */
import type { Account } from '../../model/account.ts';
import type { AgentMessage } from '../../model/agent-state.ts';
import type { ConversationFork } from '../../model/diff.ts';
import { clip } from '../../model/quantities.ts';

const maxTextChars = 400;

/** Undefined if they are equal, or one account has no conversation. */
export function findFork(before: Account, after: Account): ConversationFork | undefined {
  const a = longestConversation(before);
  const b = longestConversation(after);
  if (!a?.length || !b?.length) return undefined;
  const shared = Math.min(a.length, b.length);
  let index = 0;
  while (index < shared && keyOf(a[index]) === keyOf(b[index])) index += 1;
  if (index === a.length && index === b.length) return undefined;
  const fork: ConversationFork = { index };
  const [from, to] = [a[index], b[index]];
  if (from) fork.before = shown(from);
  if (to) fork.after = shown(to);
  return fork;
}

function longestConversation({ agent }: Account): AgentMessage[] | undefined {
  return agent?.runs.map((run) => run.messages).sort((a, b) => b.length - a.length)[0];
}

function keyOf(message: AgentMessage | undefined): string {
  return JSON.stringify([message?.role, withoutIds(message?.content)]);
}

/** Providers create a new id for each call. */
function withoutIds(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return content.map((part) => {
    if (typeof part !== 'object' || part === null) return part;
    const { id: _, ...rest } = part as { id?: unknown };
    return rest;
  });
}

function shown({ role, content }: AgentMessage): { role: string; text: string } {
  const text = typeof content === 'string' ? content : (JSON.stringify(content) ?? '');
  return { role, text: clip(text, maxTextChars) };
}
