/**
 * JSON values for people: one `key: value` per line, indented by two columns, limited in depth, count and length, with a
 * description of the rest. Lists of messages (role and content) are rendered as a conversation.
 */
import { clip, formatCount } from '../../model/quantities.ts';
import { oneLine, type Page } from './layout.ts';
import { messageText } from './message-text.ts';

const maxDepth = 6;
const maxEntries = 24;
const maxTextChars = 240;

export function renderValue(value: unknown, page: Page, depth = 0): string[] {
  if (Array.isArray(value)) return renderList(value, page, depth);
  if (isRecord(value)) return renderRecord(value, page, depth);
  return [scalarText(value)];
}

function renderRecord(value: Record<string, unknown>, page: Page, depth: number): string[] {
  const entries = Object.entries(value);
  if (!entries.length) return ['{}'];
  const lines = entries.slice(0, maxEntries).flatMap(([key, item]) => {
    const name = page.palette.faint(`${clip(oneLine(key), 80)}:`);
    if (isEmptyOrScalar(item)) return [`${name} ${scalarText(item)}`];
    if (depth >= maxDepth) return [`${name} ${summaryOf(item)}`];
    return [name, ...renderValue(item, page, depth + 1).map((line) => `  ${line}`)];
  });
  return more(lines, entries.length, page);
}

function renderList(items: unknown[], page: Page, depth: number): string[] {
  if (!items.length) return ['[]'];
  if (items.every(isMessage)) return renderConversation(items, page);
  const short = items.map(scalarText).join(', ');
  if (items.every((i) => isEmptyOrScalar(i)) && short.length <= 80) return [short];
  const lines = items.slice(0, maxEntries).flatMap((item) => {
    if (depth >= maxDepth) return [`- ${summaryOf(item)}`];
    return renderValue(item, page, depth + 1).map((line, i) => `${i === 0 ? '- ' : '  '}${line}`);
  });
  return more(lines, items.length, page);
}

type Message = { role: string; content: unknown };
const isMessage = (item: unknown): item is Message =>
  isRecord(item) && typeof item['role'] === 'string' && 'content' in item;

/** Shows the last messages, because they led to the death. */
export function renderConversation(messages: readonly Message[], page: Page): string[] {
  const shown = messages.slice(-10);
  const width = Math.max(...shown.map((m) => m.role.length));
  const lines = shown.map(
    ({ role, content }) =>
      `${page.palette.strong(oneLine(role).padEnd(width))}  ${clip(oneLine(messageText(content)), maxTextChars)}`,
  );
  const hidden = messages.length - shown.length;
  return hidden > 0 ? [page.palette.faint(`… ${formatCount(hidden, 'earlier message')}`), ...lines] : lines;
}

/** One line of JSON, cut; for arguments and results of calls. */
export function compact(value: unknown): string {
  if (value === undefined) return '';
  return clip(oneLine(typeof value === 'string' ? value : JSON.stringify(value)), maxTextChars);
}

function scalarText(value: unknown): string {
  if (typeof value === 'string') return textOf(value);
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? '[]' : '{}';
  return String(value);
}

/** The source of a class or a function is shown as its first line. */
function textOf(value: string): string {
  const source = /^(?:(?:async )?function\b|class\b)[^\n{]*/.exec(value)?.[0];
  if (source === undefined || value.length <= 120) return clip(oneLine(value), maxTextChars);
  return `${clip(source.trim(), 80)} { … } (${formatCount(value.split('\n').length, 'line')} of source)`;
}

function summaryOf(value: unknown): string {
  if (Array.isArray(value)) return `[${formatCount(value.length, 'item')}]`;
  return isRecord(value) ? `{${formatCount(Object.keys(value).length, 'field')}}` : scalarText(value);
}

function more(lines: string[], total: number, page: Page): string[] {
  return total > maxEntries ? [...lines, page.palette.faint(`… ${total - maxEntries} more`)] : lines;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isEmptyOrScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0;
}
