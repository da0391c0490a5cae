/**
 * The kernel killed the process because its cgroup or the machine had no memory left. Certain only if a line of the kernel
 * log says so: the counters also include kills of other processes.
 */
import { formatBytes, formatCount } from '../../../model/quantities.ts';
import type { Confidence, Evidence } from '../../../model/verdict.ts';
import { whatGrew } from '../../memory-growth.ts';
import type { Cause, VerdictFacts } from '../facts.ts';
import { lookStep, outsideStep, suspectEvidence } from '../memory-steps.ts';
import {
  countedKills,
  endEvidence,
  fatalSignal,
  kernelEvidence,
  memoryEvidence,
} from '../seen-from-outside.ts';
import { titled } from '../wording.ts';

export const systemOutOfMemory: Cause = {
  kind: 'system-out-of-memory',
  layer: 'reason',
  consider(facts) {
    const { evidence } = facts;
    const signal = fatalSignal(facts);
    if (!evidence || (signal !== undefined && signal !== 'SIGKILL')) return undefined;
    if (signal === undefined && evidence.exit?.code !== undefined) return undefined;
    const confidence = confidenceOf(facts);
    if (!confidence) return undefined;
    const limit = evidence.memory?.cgroup?.maxBytes;
    const where = limit === undefined ? 'the machine' : `its container's limit of ${formatBytes(limit)}`;
    return {
      kind: 'system-out-of-memory',
      title: titled(`Killed by the kernel, out of memory: ${where}`),
      summary: [
        `The kernel's out-of-memory killer ended the process (SIGKILL); ${where} was exhausted.`,
        grewText(facts),
      ].join(' '),
      confidence,
      evidence: [
        ...endEvidence(facts),
        ...counterEvidence(facts),
        ...kernelEvidence(facts),
        ...suspectEvidence(facts),
        ...memoryEvidence(facts),
      ],
      refutedBy:
        'A log of the container runtime or of a person that shows who else sent SIGKILL at that moment, with memory to spare.',
      nextSteps: [
        limit === undefined
          ? 'Give the program a limit of its own (container, `systemd-run -p MemoryMax=`), so that other programs are not affected.'
          : 'Compare the limit with what the program needs at its peak; raise it if the program needs that much.',
        ...(whatGrew(evidence.memory?.history ?? []) === 'outside'
          ? [outsideStep]
          : [
              'Set `--max-old-space-size` to about three quarters of the limit: then V8 collects garbage in time, or dies with a report.',
              lookStep(facts),
            ]),
      ],
    };
  },
};

function confidenceOf(facts: VerdictFacts): Confidence | undefined {
  const { evidence } = facts;
  if (evidence?.signalsSent?.some((sent) => sent.name === 'SIGKILL')) return undefined;
  if (evidence?.kernelLog?.some((line) => /killed process|oom-kill/i.test(line))) return 'certain';
  if (countedKills(evidence?.memory?.cgroup?.oomKills) > 0) return 'likely';
  return countedKills(evidence?.memory?.hostOomKills) > 0 ? 'possible' : undefined;
}

function grewText({ evidence }: VerdictFacts): string {
  const what = whatGrew(evidence?.memory?.history ?? []);
  if (what === 'heap') return 'The JavaScript heap grew before.';
  return what === 'outside'
    ? 'Memory outside the JavaScript heap grew before: buffers, native code or threads.'
    : 'The samples do not show whether this program grew or another one.';
}

function counterEvidence({ evidence }: VerdictFacts): Evidence[] {
  const part = 'evidence.json';
  const found: Evidence[] = [];
  const { cgroup, hostOomKills } = evidence?.memory ?? {};
  const inCgroup = countedKills(cgroup?.oomKills);
  if (inCgroup > 0)
    found.push({
      fact: `The kernel counted ${formatCount(inCgroup, 'out-of-memory kill')} in its cgroup, ${cgroup?.path}, during its lifetime.`,
      part,
    });
  const onHost = countedKills(hostOomKills);
  if (onHost > 0) found.push({ fact: `It counted ${onHost} on the whole machine.`, part });
  return found;
}
