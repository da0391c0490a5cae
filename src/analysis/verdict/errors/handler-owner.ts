/** Whose handlers an error or a signal was given to, by the files in which V8 has them. */
import { isOfNode, placeOf } from '../../../model/frame-text.ts';
import type { Frame } from '../../../model/thread.ts';
import { isInstalled } from '../../../platform/paths.ts';
import type { VerdictFacts } from '../facts.ts';
import { cwdOf } from '../wording.ts';
import { packageOf } from './module-errors.ts';

interface Owner {
  /** Absent: the program itself. */
  package?: string;
  place?: string;
}

/** Each owner once, with the place of its first handler. */
function ownersOf({ handlerFrames = [], account }: VerdictFacts): Owner[] {
  const owners = new Map<string | undefined, Owner>();
  for (const frame of handlerFrames) {
    const name = packageOfFrame(frame);
    const place = placeOf(frame, cwdOf(account));
    if (!owners.has(name)) owners.set(name, { ...(name && { package: name }), ...(place && { place }) });
  }
  return [...owners.values()];
}

function packageOfFrame(frame: Frame): string | undefined {
  if (isOfNode(frame)) return 'Node';
  return frame.file !== undefined && isInstalled(frame.file) ? packageOf(frame.file) : undefined;
}

/** `the program's own handler`, `a handler of <package>`, `handlers of the program and of <package>`, `a handler`. */
export function handlerName(facts: VerdictFacts): string {
  const [only, ...others] = ownersOf(facts);
  if (!only) return 'a handler';
  if (others.length > 0)
    return `handlers of ${[only, ...others].map((one) => one.package ?? 'the program').join(' and of ')}`;
  return only.package === undefined ? "the program's own handler" : `a handler of ${only.package}`;
}

/** As the beginning of a sentence. */
export function handlerSubject(facts: VerdictFacts): string {
  const name = handlerName(facts);
  return `${name[0]?.toUpperCase()}${name.slice(1)}`;
}

/** `The unhandledRejection handler is one of <package> (file:line).` */
export function handlerFacts(event: string, facts: VerdictFacts): string[] {
  const owners = ownersOf(facts);
  if (owners.length === 0) return [`There is a handler for ${event}; whose it is, is not known.`];
  return owners.map((owner) => {
    const place = owner.place === undefined ? '' : ` (${owner.place})`;
    return owner.package === undefined
      ? `The program has its own ${event} handler${place}.`
      : `There is a handler for ${event} of ${owner.package}${place}.`;
  });
}
