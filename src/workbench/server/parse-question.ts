/** The JSON of a question from a URL, before its members are checked. Throws `usage`. */
import { AgentdumpError } from '../../errors.ts';

export function parseQuestion(text: string | null): Record<string, unknown> {
  try {
    const asked: unknown = JSON.parse(text ?? '');
    if (typeof asked === 'object' && asked !== null) return asked as Record<string, unknown>;
  } catch {
    // Treated like any other invalid question.
  }
  throw wrongQuestion('question');
}

export const wrongQuestion = (what: string): AgentdumpError =>
  new AgentdumpError('usage', `this is no question: ${what}`, { argument: what });
