/** The system refused something because there was none left: descriptors, disk, memory, processes, ports. */
import { type ExhaustionCode, meansExhaustion } from '../../../bundle/layout/verdict-codes.ts';
import type { ErrorFacts } from '../../../model/account.ts';
import { culpritFrame, placeOf } from '../../../model/frame-text.ts';
import { clip, firstLine, formatCount, formatNumber, formatShare } from '../../../model/quantities.ts';
import type { Evidence } from '../../../model/verdict.ts';
import { descriptorHeadroom, processCountHeadroom } from '../../headroom.ts';
import type { HandlesPartFacts } from '../../parts/surroundings.ts';
import { beganEvidence, beganPlace } from '../errors/begun.ts';
import { handlerName } from '../errors/handler-owner.ts';
import { emitterEvidence } from '../errors/thrown.ts';
import type { Cause, VerdictFacts } from '../facts.ts';
import {
  cwdOf,
  deathFrames,
  everyError,
  headlineOf,
  isSnapshot,
  surroundingsOf,
  titleWithPlace,
} from '../wording.ts';

interface Resource {
  title: string;
  /** `certain` if the code has no other meaning. */
  confidence: 'certain' | 'likely';
  steps: string[];
}

const inspectDescriptors =
  'See below what the descriptors point to: what is there in hundreds is opened and not closed.';
const resources: Record<ExhaustionCode, Resource> = {
  EMFILE: {
    title: 'The process ran out of file descriptors',
    confidence: 'certain',
    steps: [
      inspectDescriptors,
      'If all of them are needed, raise the limit (`ulimit -n`) or open fewer at a time.',
    ],
  },
  ENFILE: {
    title: 'The machine ran out of file descriptors',
    confidence: 'certain',
    steps: ['Find the process that holds them: `cat /proc/sys/fs/file-nr`, then `lsof`.'],
  },
  ENOSPC: {
    title: 'The disk is full',
    confidence: 'certain',
    steps: [
      'Free space on the file system that was written to, and look what fills it.',
      '`df -h` shows the bytes, `df -i` the inodes.',
    ],
  },
  EDQUOT: {
    title: 'The disk quota is used up',
    confidence: 'certain',
    steps: ['Free space within the quota, or have it raised.'],
  },
  ENOMEM: {
    title: 'The system refused memory',
    confidence: 'certain',
    steps: ['Compare the memory of the process with the limit of its container and of the machine, below.'],
  },
  ENOBUFS: {
    title: 'The system ran out of network buffers',
    confidence: 'certain',
    steps: ['Send less at a time, or wait for the socket to drain before writing on.'],
  },
  EADDRNOTAVAIL: {
    title: 'No local port was left for a connection',
    confidence: 'likely',
    steps: ['Keep connections alive and use them again; thousands in TIME_WAIT hold the ports.'],
  },
  EAGAIN: {
    title: 'No further process or thread could be started',
    confidence: 'likely',
    steps: [
      'Compare the number of processes with the limit of the user (`ulimit -u`) and of the container (pids.max).',
    ],
  },
};
const watchers: Resource = {
  title: 'The limit of watched files is used up',
  confidence: 'certain',
  steps: ['Watch fewer folders (not node_modules), or raise fs.inotify.max_user_watches.'],
};

export const resourceExhaustion: Cause = {
  kind: 'resource-exhaustion',
  layer: 'reason',
  consider(facts) {
    const { account, trigger } = facts;
    if (isSnapshot(facts)) return undefined;
    const found = everyError(account.error)
      .map((error) => ({ error, resource: resourceOf(error) }))
      .find(({ resource }) => resource);
    if (!found?.resource) return undefined;
    const { error, resource } = found;
    const use = error.code === 'EMFILE' ? descriptorHeadroom(surroundingsOf(facts)) : undefined;
    return {
      kind: 'resource-exhaustion',
      title: titleOf(
        `${resource.title}${use ? `: ${formatNumber(use.used)} of ${formatNumber(use.limit)} open` : ` (${error.code})`}`,
        facts,
      ),
      summary: `${headlineOf(error)}. ${resource.title}, and the code that asked did not expect that${
        trigger?.handledByHost
          ? `; ${handlerName(facts)} received the error, and the program may have gone on`
          : ', so the process ended'
      }.`,
      // The program's own errors may have this code too; only system errors also have `errno`.
      confidence: typeof error.properties?.['errno'] === 'number' ? resource.confidence : 'likely',
      evidence: [
        { fact: headlineOf(error), part: 'error.json' },
        ...beganEvidence(facts),
        ...emitterEvidence(facts),
        ...limitEvidence(facts, error),
      ],
      refutedBy: 'An error made by the program itself with this code, instead of one from the system.',
      nextSteps: [...resource.steps, ...creatorStep(facts, error)],
    };
  },
};

function creatorStep({ handles }: VerdictFacts, { code }: ErrorFacts): string[] {
  if (code !== 'EMFILE' || handles?.creators) return [];
  return ['To see who opens them, set AGENTDUMP_HANDLES=stacks.'];
}

/** With the place of what asked for it, which is rarely what has used it up. */
function titleOf(what: string, facts: VerdictFacts): string {
  const began = beganPlace(facts);
  if (began !== undefined) return titleWithPlace(what, 'from', began);
  const culprit = culpritFrame(deathFrames(facts.account));
  return titleWithPlace(what, 'at', culprit?.inApp ? placeOf(culprit, cwdOf(facts.account)) : undefined);
}

function resourceOf(error: ErrorFacts): Resource | undefined {
  const { code } = error;
  const call = error.properties?.['syscall'];
  if (code === undefined || !meansExhaustion(code, `${call} ${error.message}`)) return undefined;
  if (code === 'ENOSPC' && (call === 'watch' || /file watchers/.test(error.message ?? ''))) return watchers;
  return resources[code];
}

function limitEvidence(facts: VerdictFacts, error: ErrorFacts): Evidence[] {
  const evidence: Evidence[] = [];
  const around = surroundingsOf(facts);
  if (error.code === 'EMFILE') {
    const use = descriptorHeadroom(around);
    if (use)
      evidence.push({
        fact: `${formatNumber(use.used)} descriptors were open, of ${formatNumber(use.limit)} allowed (${formatShare(use.share)}).`,
        part: use.part,
      });
    const most = facts.handles && mostCommonTarget(facts.handles);
    if (most) evidence.push({ fact: most, part: 'handles.json' });
    const creator = facts.handles?.creators?.[0];
    if (creator) evidence.push({ fact: creatorText(creator, facts), part: 'handles.json' });
  }
  const processes = error.code === 'EAGAIN' ? processCountHeadroom(around) : undefined;
  if (processes)
    evidence.push({
      fact: `${formatNumber(processes.used)} processes and threads ran in the container, of ${formatNumber(processes.limit)} allowed.`,
      part: processes.part,
    });
  return evidence;
}

/** `812 file descriptors were opened at load (src/cache.js:12:5) and not closed.` */
function creatorText(
  { kind, count, stack }: NonNullable<HandlesPartFacts['creators']>[number],
  { account }: VerdictFacts,
): string {
  const frame = firstLine(stack).replace(/^at /, '');
  const cwd = account.process?.cwd;
  const place = cwd ? frame.replace(`${cwd}/`, '') : frame;
  return `${formatCount(count, kind)} ${count === 1 ? 'was' : 'were'} opened at ${clip(place, 200)} and not closed.`;
}

/** `812 of 1,024 point into /tmp/cache.` */
function mostCommonTarget({ descriptors = [] }: HandlesPartFacts): string | undefined {
  const counts = new Map<string, number>();
  for (const { kind, target } of descriptors) {
    const group = target.startsWith('/') ? target.replace(/\/[^/]*$/, '') || '/' : kind;
    counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  const [group, count] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? [];
  if (group === undefined || count === undefined || count < 10) return undefined;
  return `${formatNumber(count)} of ${formatNumber(descriptors.length)} listed ${group.startsWith('/') ? `point into ${group}` : `are of kind ${group}`}.`;
}
