/** A fault in native code: a wild pointer, a stack overflow, a missing page, a forbidden system call. */
import type { Cause, VerdictFacts } from '../facts.ts';
import { coreEvidence, coreSteps, endEvidence, fatalSignal, kernelEvidence } from '../seen-from-outside.ts';
import { titled } from '../wording.ts';

const faults: Record<string, string> = {
  SIGSEGV: 'invalid memory access',
  SIGBUS: 'a mapped file was truncated, or memory access was misaligned',
  SIGILL: 'illegal instruction',
  SIGFPE: 'arithmetic error, such as a division by zero',
  SIGSYS: 'a system call that a filter forbids',
};

export const nativeCrash: Cause = {
  kind: 'native-crash',
  layer: 'mechanism',
  consider(facts) {
    const name = fatalSignal(facts) ?? (facts.evidence?.core?.path ? 'SIGSEGV' : undefined);
    const what = name === undefined ? undefined : faults[name];
    if (what === undefined) return undefined;
    const isSeen = fatalSignal(facts) !== undefined;
    const addons = addonsOf(facts);
    return {
      kind: 'native-crash',
      title: titled(isSeen ? `Native crash: ${name}, ${what}` : 'Native crash: the kernel left a core'),
      summary: [
        `The process ended in native code: ${what}.`,
        addons.length
          ? `Native add-ons of the program were loaded: ${addons.slice(0, 5).join(', ')}.`
          : 'JavaScript alone cannot cause this: a native add-on, Node itself, or deep native recursion can.',
      ].join(' '),
      confidence: isSeen ? 'certain' : 'likely',
      evidence: [...endEvidence(facts), ...kernelEvidence(facts), ...coreEvidence(facts)],
      refutedBy: `Somebody sent ${name} with kill: then no line of the kernel's log names a fault.`,
      nextSteps: [
        ...coreSteps(facts),
        'Look at native add-ons first: their versions, and whether they were built for this Node (`npm rebuild`).',
        'If a stack overflow is possible (`--stack-size`, deep recursion in native code), look for that.',
      ],
    };
  },
};

function addonsOf({ account }: VerdictFacts): string[] {
  const paths = account.modules?.native.map((module) => module.path) ?? [];
  return [...new Set(paths.filter((path) => path.endsWith('.node')))].map(
    (path) => path.split('/').pop() ?? path,
  );
}
