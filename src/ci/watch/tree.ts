/**
 * The processes of a run: whoever descends from the command, and whoever carries the run's mark in its environment
 * although its parents are gone (where the system does not tell the environment, whoever has a log of the run). Never throws.
 */
import { platform } from '../../platform/index.ts';
import { readTestLogs } from '../report/test-logs.ts';

const largestEnvironment = 2 * 1024 * 1024;

export interface RunProcess {
  pid: number;
  parentPid: number;
  isNode: boolean;
}

/** The command itself first, then level by level; those without a parent in the tree last. */
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

/** Where the system lists none: the command, and who has a log in the run's folder, which is the mark. */
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

/** One that is dead and not reaped yet is not. */
export function isAlive(pid: number): boolean {
  const state = platform.processStat(pid)?.[0];
  return state === undefined ? platform.isThere(pid) : !/[ZX]/.test(state);
}
