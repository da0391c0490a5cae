/** Parses a JSON value from a command-line argument. */
import { AgentdumpError } from '../../errors.ts';

export function readJsonWord(text: string, option: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new AgentdumpError('usage', `--${option} wants JSON, not ${text}`, { argument: option });
  }
}
