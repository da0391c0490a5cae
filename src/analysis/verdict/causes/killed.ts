/**
 * The process was ended from outside, with no chance to say a word: SIGKILL, or the machine itself stopped. Who did it
 * is said only where somebody is known to have.
 */
import type { Cause, VerdictFacts } from '../facts.ts';
import { countedKills, endEvidence, fatalSignal, memoryEvidence } from '../seen-from-outside.ts';
import { titled } from '../wording.ts';

export const killed: Cause = {
  kind: 'killed',
  layer: 'mechanism',
  consider(facts) {
    const { evidence } = facts;
    if (!evidence) return undefined;
    if (evidence.fate?.rebooted) return reboot(facts);
    if (fatalSignal(facts) === 'SIGKILL') return bySignal(facts);
    return evidence.exit === undefined ? unseen(facts) : undefined;
  },
};

function reboot(facts: VerdictFacts): ReturnType<Cause['consider']> {
  return {
    kind: 'killed',
    title: 'The machine went down while the program ran',
    summary:
      'The machine was started anew since the program last wrote: a reboot, a crash of the kernel, or a power cut ended it.',
    confidence: 'certain',
    evidence: [...endEvidence(facts), ...memoryEvidence(facts)],
    refutedBy:
      'The program had died before the machine went down: a log of its service manager would show that.',
    nextSteps: [
      '`last -x` and `journalctl --list-boots` tell when and how the machine stopped.',
      'What was in flight is in the journal: `agentdump analyze` shows it.',
    ],
  };
}

function bySignal(facts: VerdictFacts): ReturnType<Cause['consider']> {
  const own = facts.evidence?.signalsSent?.find((sent) => sent.name === 'SIGKILL');
  const by = own ? ` by its supervisor${own.reason ? `: ${own.reason}` : ''}` : '';
  const counter = facts.evidence?.memory?.cgroup?.oomKills;
  const noMemoryKill = counter !== undefined && countedKills(counter) === 0;
  return {
    kind: 'killed',
    title: titled(own ? `Killed${by}` : 'Killed by SIGKILL, sent from outside'),
    summary: [
      'SIGKILL can be neither caught nor refused, so the process could write nothing of its own.',
      own
        ? 'Its supervisor sent it.'
        : noMemoryKill
          ? 'The kernel counted no kill for want of memory in its cgroup, so a person, a container runtime or another program sent it.'
          : 'Who sent it is not known.',
    ].join(' '),
    confidence: own ? 'certain' : 'likely',
    evidence: [...endEvidence(facts), ...sentEvidence(facts), ...memoryEvidence(facts)],
    refutedBy: "A line of the kernel's log that says it killed this process for want of memory.",
    nextSteps: [
      'Look who stops it: a container runtime after its grace period, a service manager, a CI job that was cancelled, a person.',
      'If it was stopped for not ending in time, look at what it does at SIGTERM, and how long that takes.',
      "`dmesg | grep -i kill` as root settles whether it was the kernel's out-of-memory killer.",
    ],
  };
}

function unseen(facts: VerdictFacts): ReturnType<Cause['consider']> {
  return {
    kind: 'killed',
    title: 'It ended without a word, and nobody saw how',
    summary:
      'The process is gone, said no goodbye and left no report. SIGKILL does that, and so do a native crash and an abort whose traces were not kept.',
    confidence: 'possible',
    evidence: [...endEvidence(facts), ...memoryEvidence(facts)],
    refutedBy:
      'The exit status, where a service manager or a container runtime logged it: 137 is SIGKILL, 139 a native crash, 134 an abort.',
    nextSteps: [
      'Start the program with `agentdump run -- …`: a parent sees the exit status, and can have a core kept.',
      'Look for the exit status in the log of whoever started it.',
    ],
  };
}

function sentEvidence({ evidence }: VerdictFacts) {
  return (evidence?.signalsSent ?? []).slice(0, 5).map((sent) => ({
    fact: `The supervisor ${sent.by === 'supervisor' ? 'sent' : 'passed on'} ${sent.name} at ${sent.at}${sent.reason ? `: ${sent.reason}` : ''}.`,
    part: 'evidence.json',
  }));
}
