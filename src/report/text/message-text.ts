/**
 * The contents of a message on one line: its texts, and a description of its other parts. Supports the parts of the GenAI
 * conventions.
 */

export function messageText(content: unknown): string {
  return Array.isArray(content) ? content.map(partText).join('  ') : textOf(content);
}

/** A text unchanged, anything else as JSON. */
export function textOf(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function partText(part: unknown): string {
  if (typeof part !== 'object' || part === null) return textOf(part);
  const { type, text, content, name, arguments: given, response } = part as Record<string, unknown>;
  if (type === 'text' || type === 'refusal') return textOf(content ?? text);
  if (type === 'reasoning') return `(thinking) ${textOf(content ?? text)}`;
  if (type === 'tool_call') return `calls ${textOf(name)}(${textOf(given)})`;
  if (type === 'tool_call_response') return `result: ${textOf(response)}`;
  return typeof text === 'string' ? text : textOf(part);
}
