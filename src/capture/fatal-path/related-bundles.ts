/**
 * Finds bundles and sessions of this process's parent and children in the same dump folder: bundles by the pid in their
 * trigger, sessions by that of their process. Reads a few small files, newest first. Since pids are reused, the search is
 * limited in time.
 */
import { join } from 'node:path';
import {
  type BundleLink,
  bundleSuffix,
  type ProcessPart,
  partNames,
  type TriggerPart,
} from '../../bundle/layout/bundle.ts';
import { type SessionFacts, sessionName, sessionsFolder } from '../../journal/layout/session.ts';
import { platform } from '../../platform/index.ts';
import { quoteWords } from '../../platform/paths.ts';
import { listFolder, readSmallFile } from '../../platform/small-file.ts';

const mostLooked = 60;
const deaths = new Set<TriggerPart['kind']>([
  'uncaught-exception',
  'unhandled-rejection',
  'signal',
  'exit',
  'pending-exit',
  'supervised-exit',
  'found-dead',
]);
/** The system's uptime and clock are read one after the other, and are not exact. */
const startSlackMs = 1000;

interface RelatedBundle {
  link: BundleLink;
  pid: number;
  parentPid: number | undefined;
  at: number;
  command: string;
  /** Its process died, as far as it saw itself. */
  isDeath: boolean;
}

export class RelatedBundles {
  readonly #dir: string;
  #found: RelatedBundle[] | undefined;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** The newest bundle of a child, or of a process that the child had started (the program of a shell, for example). */
  ofChild(pid: number, startedAt: number): BundleLink | undefined {
    const later = this.#since(startedAt);
    const own =
      later.find((related) => related.pid === pid) ?? later.find((related) => related.parentPid === pid);
    return own?.link;
  }

  /** Bundles of processes whose parent is this one, and that died. */
  deathsOfChildren(pid: number, startedAt: number): RelatedBundle[] {
    return this.#since(startedAt).filter((related) => related.parentPid === pid && related.isDeath);
  }

  /** The newest bundle of the parent itself; bundles of other processes that it had started are siblings. */
  ofParent(pid: number): BundleLink | undefined {
    const startedAt = platform.startedAtMs(pid);
    if (startedAt === undefined) return undefined;
    return this.#since(startedAt - startSlackMs).find((related) => related.pid === pid)?.link;
  }

  #since(startedAt: number): RelatedBundle[] {
    this.#found ??= this.#look();
    return this.#found.filter(({ at }) => at >= startedAt);
  }

  #look(): RelatedBundle[] {
    const names = listFolder(this.#dir).filter((name) => name.endsWith(bundleSuffix));
    return names
      .sort()
      .slice(-mostLooked)
      .reverse()
      .flatMap((name) => {
        const trigger = readJson<TriggerPart>(join(this.#dir, name, partNames.trigger));
        if (!trigger || trigger.pid === process.pid) return [];
        const { parentPid, argv } =
          readJson<Partial<ProcessPart>>(join(this.#dir, name, partNames.process)) ?? {};
        return [
          {
            link: { id: trigger.id, name },
            pid: trigger.pid,
            parentPid,
            at: Date.parse(trigger.at),
            command: Array.isArray(argv) ? quoteWords(argv.map(String)) : trigger.program,
            isDeath: !trigger.handledByHost && trigger.isMainThread && deaths.has(trigger.kind),
          },
        ];
      });
  }
}

/** Session id of the process with this pid. */
export function findParentSession(dir: string, pid: number): string | undefined {
  const folder = join(dir, sessionsFolder);
  for (const id of listFolder(folder).slice(0, mostLooked)) {
    const facts = readJson<SessionFacts>(join(folder, id, sessionName));
    if (facts?.process?.pid !== pid) continue;
    const { startTicks } = facts.process;
    if (startTicks === undefined || startTicks === platform.startToken(pid)) return facts.id;
  }
  return undefined;
}

function readJson<Shape>(path: string): Shape | undefined {
  try {
    const value: unknown = JSON.parse(readSmallFile(path, 256 * 1024) ?? '');
    return typeof value === 'object' && value !== null ? (value as Shape) : undefined;
  } catch {
    return undefined;
  }
}
