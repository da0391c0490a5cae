/**
 * The process couldn't write anything at its end: SIGKILL, a reboot, or an end that nobody observed. The sender is named only
 * if a record names it.
 */
import type { Cause, VerdictFacts } from '../facts.ts';
import { countedKills, endEvidence, fatalSignal, memoryEvidence } from '../seen-from-outside.ts';
import { titled } from '../wording.ts';

export const unseenTitle = 'The process died without a report; its exit status was not seen';

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
    title: 'The machine stopped while the program was running',
    summary:
      'The machine has booted again since the program last wrote: a reboot, a kernel crash or a power failure ended the process.',
    confidence: 'certain',
    evidence: [...endEvidence(facts), ...memoryEvidence(facts)],
    refutedBy: 'A log of the service manager that shows the process ending before the machine stopped.',
    nextSteps: [
      '`last -x` and `journalctl --list-boots` show when and how the machine stopped.',
      'What was in flight is in the journal: `agentdump analyze` shows it.',
    ],
  };
}

function bySignal(facts: VerdictFacts): ReturnType<Cause['consider']> {
  const own = facts.evidence?.signalsSent?.find((sent) => sent.name === 'SIGKILL');
  const byParent = facts.evidence?.exit?.byParent === true;
  const by = own
    ? ` by its supervisor${own.reason ? `: ${own.reason}` : ''}`
    : byParent
      ? ' by its parent process'
      : '';
  const counter = facts.evidence?.memory?.cgroup?.oomKills;
  const noMemoryKill = counter !== undefined && countedKills(counter) === 0;
  return {
    kind: 'killed',
    title: titled(by ? `Killed${by}` : 'Killed by SIGKILL'),
    summary: [
      'SIGKILL cannot be caught, so the process wrote nothing at its end.',
      own
        ? 'Its supervisor sent the signal.'
        : byParent
          ? 'Its parent process had sent it a signal.'
          : `The sender is not recorded${noMemoryKill ? '; the kernel counted no out-of-memory kill in its cgroup' : ''}.`,
    ].join(' '),
    confidence: own || byParent ? 'certain' : 'likely',
    evidence: [...endEvidence(facts), ...sentEvidence(facts), ...memoryEvidence(facts)],
    refutedBy:
      'A line of the kernel log about an out-of-memory kill of this process: then the cause was memory.',
    nextSteps: [
      'Find the sender: a container runtime after its grace period, a service manager, a cancelled CI job, a person, or the program itself (process.kill).',
      'If it was killed because it did not stop in time, check what it does on SIGTERM and how long that takes.',
      "`dmesg | grep -i kill` (as root) shows whether it was the kernel's out-of-memory killer.",
    ],
  };
}

/** Signals that are sent to end a program and leave no trace unless they are held, with their names and exit codes. */
const deadly = [
  { signal: 'SIGINT', name: 'SIGINT (Ctrl-C)', code: 130 },
  { signal: 'SIGTERM', name: 'SIGTERM', code: 143 },
  { signal: 'SIGHUP', name: 'SIGHUP', code: 129 },
] as const;

function unseen(facts: VerdictFacts): ReturnType<Cause['consider']> {
  const held = facts.evidence?.journal?.heldSignals ?? [];
  const unheld = deadly.filter(({ signal }) => !held.includes(signal));
  const looksLike = ['SIGKILL', ...unheld.map(({ name }) => name), 'a native crash'].join(', ');
  const codes = ['137 is SIGKILL', ...unheld.map(({ signal, code }) => `${code} ${signal}`)].join(', ');
  return {
    kind: 'killed',
    title: unseenTitle,
    summary: `The process is gone and left no report of its own. ${looksLike} and an abort all look like this when no parent saw the exit status; so do \`process.execve\` and \`process.reallyExit\`.`,
    confidence: 'possible',
    evidence: [...endEvidence(facts), ...heldEvidence(held), ...memoryEvidence(facts)],
    refutedBy: `The exit status, where a service manager or a container runtime logged it: ${codes}, 139 a native crash, 134 an abort.`,
    nextSteps: [
      'Start the program with `agentdump run -- …`: a supervisor sees the exit status and can keep a core.',
      'Look for the exit status in the log of whoever started it.',
    ],
  };
}

function heldEvidence(held: readonly string[]) {
  if (held.length === 0) return [];
  return [
    {
      fact: `The recorder held ${held.join(', ')}: each leaves a bundle, unless the time was too short to write one.`,
      part: 'evidence.json',
    },
  ];
}

function sentEvidence({ evidence }: VerdictFacts) {
  return (evidence?.signalsSent ?? []).slice(0, 5).map((sent) => ({
    fact: `The supervisor ${sent.by === 'supervisor' ? 'sent' : 'passed on'} ${sent.name} at ${sent.at}${sent.reason ? `: ${sent.reason}` : ''}.`,
    part: 'evidence.json',
  }));
}
