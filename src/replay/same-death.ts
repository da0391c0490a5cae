/**
 * Whether two signatures describe the same death. They do if their ids are equal, or if they are equal except that one has
 * fewer frames, because a bundle that was written in a hurry may lack some.
 */
import type { Signature } from '../model/account.ts';

export function isSameDeath(a: Signature, b: Signature): boolean {
  if (a.id === b.id) return true;
  const [first, second] = [split(a), split(b)];
  // Without an error message, the frames are the only distinguishing part.
  if (a.version !== b.version || first.facts !== second.facts || !first.hasMessage) return false;
  const [fewer, more] = [first.frames, second.frames].sort((x, y) => x.length - y.length) as [
    string[],
    string[],
  ];
  return fewer.length < more.length && fewer.every((frame) => more.includes(frame));
}

function split({ parts }: Signature): { facts: string; frames: string[]; hasMessage: boolean } {
  const isFrame = (part: string) => part.startsWith('frame:');
  return {
    facts: parts.filter((part) => !isFrame(part)).join('\n'),
    frames: parts.filter(isFrame),
    hasMessage: parts.some((part) => part.startsWith('message:')),
  };
}
