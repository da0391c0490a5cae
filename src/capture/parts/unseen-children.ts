/**
 * Children of spawnSync, execSync and execFileSync, which no channel reports. Of those that failed, the error has the end that
 * Node saw; those that left a bundle of their own in the same folder are known by it.
 */
import type { ChildEventPart } from '../../bundle/layout/bundle.ts';
import { quoteWords } from '../../platform/paths.ts';
import { startOf } from '../../redaction/start-of.ts';
import type { RelatedBundles } from '../fatal-path/related-bundles.ts';
import { everyCauseOf } from '../host/cause-chain.ts';
import { findField } from '../host/read-field.ts';
import { currentPolicy } from '../install/policy.ts';

const stderrChars = 4096;
const longestCommand = 2048;
const failedCommand = /^Command failed: (.*)/;

/** `at`: the time of the death. `known`: pids of the children that were followed. */
export function findUnseenChildren(
  thrown: unknown,
  related: RelatedBundles,
  known: ReadonlySet<number>,
  { startedAt, at }: { startedAt: number; at: string },
): ChildEventPart[] {
  const start = new Date(startedAt).toISOString();
  const failed = everyCauseOf(thrown).flatMap((error) => {
    const child = childOfError(error);
    return child && !known.has(child.pid) ? [{ ...child, startedAt: start, endedAt: at }] : [];
  });
  const linked = failed.map((child) => {
    const bundle = related.ofChild(child.pid, startedAt);
    return bundle ? { ...child, bundle } : child;
  });
  const pids = new Set([...known, ...linked.map(({ pid }) => pid)]);
  const ids = new Set(linked.map(({ bundle }) => bundle?.id));
  const others = related
    .deathsOfChildren(process.pid, startedAt)
    .filter(({ pid, link }) => !pids.has(pid) && !ids.has(link.id))
    .map(({ pid, link, command, at: diedAt }) => ({
      pid,
      command: startOf(command, longestCommand),
      startedAt: start,
      endedAt: new Date(diedAt).toISOString(),
      bundle: link,
    }));
  return [...linked, ...others];
}

/** In the message if it failed by itself, in fields if Node ended it. */
function commandOf(error: unknown): string {
  const [, command] = failedCommand.exec(String(findField(error, 'message') ?? '')) ?? [];
  if (command !== undefined) return command;
  const [path, given] = [findField(error, 'path'), findField(error, 'spawnargs')];
  const words = [path, ...(Array.isArray(given) ? given : [])].filter((word) => typeof word === 'string');
  return words.length ? quoteWords(currentPolicy().argv(words)) : 'command not known';
}

/** Only errors of the synchronous functions have all of these fields. */
function childOfError(error: unknown): Omit<ChildEventPart, 'startedAt'> | undefined {
  const [pid, status, signal] = ['pid', 'status', 'signal'].map((name) => findField(error, name));
  if (typeof pid !== 'number' || pid === 0 || !Array.isArray(findField(error, 'output'))) return undefined;
  const command = commandOf(error);
  const said = findField(error, 'stderr');
  const text = said instanceof Uint8Array ? Buffer.from(said.subarray(-stderrChars)).toString('utf8') : said;
  return {
    pid,
    command: startOf(command, longestCommand),
    ...(typeof status === 'number' && { exitCode: status }),
    ...(typeof signal === 'string' && { signal }),
    ...(typeof text === 'string' && text !== '' && { stderrTail: text.slice(-stderrChars) }),
  };
}
