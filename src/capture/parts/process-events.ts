/**
 * `process-events.json`: events around the agent that did not end the process, from memory: the ends of the logs, warnings,
 * handled errors, children. Links children to the bundles that they wrote themselves, and the process to its parent.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { type ChildEventPart, type ProcessEventsPart, partNames } from '../../bundle/layout/bundle.ts';
import { platform } from '../../platform/index.ts';
import { findParentSession, RelatedBundles } from '../fatal-path/related-bundles.ts';
import { currentPolicy } from '../install/policy.ts';
import { type LogTap, logStreams } from '../recording/log-tap.ts';
import { renderLogTail } from '../recording/log-text.ts';
import type { Child, ProcessEvent } from '../recording/process-events.ts';
import type { CaptureContext, PartProducer } from './part.ts';
import { processStartMs } from './process.ts';
import { findUnseenChildren } from './unseen-children.ts';

const logChars = 16 * 1024;
const isoTime = (ms: number): string => new Date(ms).toISOString();

export const processEventsPart: PartProducer = {
  name: partNames.processEvents,
  produce(context: CaptureContext): ProcessEventsPart {
    const { config, processEvents, logs, lookAtChildren, thrown, trigger } = context;
    lookAtChildren();
    const related = new RelatedBundles(config.dir);
    const { kept } = processEvents;
    const parent = describeParent(config.dir, related);
    const children = [...processEvents.children].map((child) => describeChild(child, related));
    const unseen = findUnseenChildren(thrown?.value, related, new Set(children.map(({ pid }) => pid)), {
      startedAt: processStartMs(),
      at: trigger.at,
    });
    return {
      logs: logs ? describeLogs(logs) : [],
      warnings: kept.flatMap(({ kind, at, payload }) =>
        kind === 'warning' ? [{ at: isoTime(at), ...payload }] : [],
      ),
      handled: kept.flatMap(describeHandled),
      children: [...children, ...unseen],
      connections: describeConnections(context),
      peaks: kept.flatMap(({ kind, at, payload }) =>
        kind === 'resourcePeak' ? [{ at: isoTime(at), ...payload }] : [],
      ),
      ...(parent && { parent }),
    };
  },
};

function describeHandled({ kind, at, payload }: ProcessEvent): ProcessEventsPart['handled'] {
  if (kind !== 'handledException' && kind !== 'handledRejection') return [];
  return [{ at: isoTime(at), kind: kind === 'handledException' ? 'exception' : 'rejection', ...payload }];
}

function describeConnections({ recording, ownFile }: CaptureContext): ProcessEventsPart['connections'] {
  const failed = recording?.recorder.sites.failedConnections(ownFile) ?? [];
  return failed.map(({ lastBegunAt, isOnlyStack: _, ...facts }) => ({
    ...facts,
    lastBegunAt: isoTime(lastBegunAt),
  }));
}

function describeLogs({ tails }: LogTap): ProcessEventsPart['logs'] {
  return logStreams.flatMap((stream): ProcessEventsPart['logs'] => {
    const tail = tails[stream];
    const { isElsewhere, targetHeld = 0 } = tail;
    if (isElsewhere) {
      const fd = stream === 'stdout' ? 1 : 2;
      const target = platform.processLink('self', `fd/${fd}`) ?? 'unknown';
      return [{ stream, target, text: renderFileEnd(fd, targetHeld) }];
    }
    if (tail.at === 0) return [];
    const text = renderLogTail(tail, logChars, (raw) => currentPolicy().text(raw));
    return [{ stream, text, writtenAt: isoTime(tail.at) }];
  });
}

/** What was written to the file since its size was `heldBefore` bytes, including the output of other processes. */
function renderFileEnd(descriptor: number, heldBefore: number): string {
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return '';
    const { size } = stat;
    const path = platform.reopenPath(descriptor);
    if (path === undefined) return '';
    const fd = openSync(path, 'r');
    try {
      // A file that has shrunk was truncated meanwhile: all of it is new.
      const fresh = size < heldBefore ? size : size - heldBefore;
      const bytes = Buffer.alloc(Math.min(fresh, 2 * logChars));
      const got = readSync(fd, bytes, 0, bytes.length, size - bytes.length);
      const pieces = [bytes.toString('utf8', 0, got)];
      return renderLogTail({ pieces, isCut: fresh > got }, logChars, (raw) => currentPolicy().text(raw));
    } finally {
      closeSync(fd);
    }
  } catch {
    return '';
  }
}

function describeChild(child: Child, related: RelatedBundles): ChildEventPart {
  const { startedAt, endedAt, ...facts } = child;
  const end = endedAt === undefined ? unnoticedEnd(child) : { endedAt: isoTime(endedAt) };
  const described: ChildEventPart = { ...facts, startedAt: isoTime(startedAt), ...end };
  const isWell = described.endedAt === undefined || described.exitCode === 0;
  const bundle = isWell ? undefined : related.ofChild(child.pid, startedAt);
  return bundle ? { ...described, bundle } : described;
}

/** For a child whose death was not reported, because it was never waited for. */
function unnoticedEnd({ pid, error }: Child): Partial<ChildEventPart> {
  if (pid === 0 || error !== undefined) return {};
  const endedAt = isoTime(Date.now());
  if (!platform.isThere(pid)) return { endedAt };
  const end = platform.unreapedEnd(pid);
  if (!end) return {};
  const { exitCode, signal } = end;
  return exitCode === null ? { endedAt, signal: signal ?? 'unknown' } : { endedAt, exitCode };
}

function describeParent(dir: string, related: RelatedBundles): ProcessEventsPart['parent'] {
  const pid = process.ppid;
  const recorderId = findParentSession(dir, pid);
  const bundle = related.ofParent(pid);
  if (recorderId === undefined && !bundle) return undefined;
  return { pid, ...(recorderId !== undefined && { recorderId }), ...(bundle && { bundle }) };
}
