/**
 * The processes of a run: descendants of the command, and processes that have the run's mark in their environment although
 * their parents are gone (or, where the system does not show the environment, a log of the run). Never throws.
 */
import { platform } from '../../platform/index.ts';
import { readTestLogs } from '../report/test-logs.ts';

const largestEnvironment = 2 * 1024 * 1024;

export interface RunProcess {
  pid: number;
  parentPid: number;
  isNode: boolean;
}

/** The command first, then its descendants level by level, and processes without a parent in the tree last. */
export function findTree(rootPid: number, mark: string): RunProcess[] {
  const all = listAll(rootPid, mark);
  const children = new Map<number, RunProcess[]>();
  for (const one of all) {
    const siblings = children.get(one.parentPid);
    if (siblings) siblings.push(one);
    else children.set(one.parentPid, [one]);
  }
  const found = all.filter(({ pid }) => pid === rootPid);
  const seen = new Set(found.map(({ pid }) => pid));
  const add = (one: RunProcess): void => {
    if (seen.has(one.pid) || one.pid === process.pid) return;
    seen.add(one.pid);
    found.push(one);
  };
  for (let at = 0; at < found.length; at++)
    for (const child of children.get(found[at]?.pid ?? -1) ?? []) add(child);
  for (const one of all) if (one.isNode && !seen.has(one.pid) && carries(one.pid, mark)) add(one);
  return found;
}

/**
 * Where the system does not list processes: the command, and all that have a log in the run's folder, whose path is the mark.
 */
function listAll(rootPid: number, mark: string): RunProcess[] {
  const listed = platform.processes();
  if (listed.length > 0)
    return listed.map(({ pid, parentPid, program }) => ({ pid, parentPid, isNode: isNode(program) }));
  const known = new Set([rootPid, ...loggedPids(mark)]);
  return [...known].filter(isAlive).map((pid) => ({ pid, parentPid: rootPid, isNode: true }));
}

const loggedPids = (mark: string): number[] => readTestLogs(mark).map(({ pid }) => pid);

function isNode(program: string): boolean {
  return /^node(?:js)?(?:-?\d[\d.]*)?(?: \(deleted\))?$/.test(program);
}

function carries(pid: number, mark: string): boolean {
  return (
    platform.processFile(pid, 'environ', largestEnvironment)?.includes(mark) ?? loggedPids(mark).includes(pid)
  );
}

/** False for a zombie. */
export function isAlive(pid: number): boolean {
  const state = platform.processStat(pid)?.[0];
  return state === undefined ? platform.isThere(pid) : !/[ZX]/.test(state);
}
