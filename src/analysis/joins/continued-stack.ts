/**
 * The stack that a library kept when a call began, and appended to the text of the error with which the call failed: what is below a
 * line such as "for call at" or "From previous event:".
 */
import type { SerializedError } from '../../bundle/layout/bundle.ts';
import { readStackText } from '../../formats/stack-text/stack-text.ts';

/** The outermost one. Undefined if the text goes on with nothing of the kind. */
export function continuedStack({
  stack,
  message,
}: Partial<SerializedError> = {}): { what: string; stack: string } | undefined {
  if (stack === undefined) return undefined;
  const { related } = readStackText(stack, message === undefined ? {} : { message });
  const last = related.findLast(
    ({ relation, stack: { frames } }) => relation === 'continuation' && frames.length > 0,
  );
  if (!last) return undefined;
  return { what: 'call', stack: last.stack.frames.map(({ raw }) => `    ${raw}`).join('\n') };
}
