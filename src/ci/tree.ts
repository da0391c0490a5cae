/**
 * The processes of a run: whoever descends from the command, and whoever carries the run's mark in its environment
 * although its parents are gone. Source: proc(5). Never throws.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';

export interface RunProcess {
  pid: number;
  parentPid: number;
  isNode: boolean;
}

/** The command itself first, then level by level; those without a parent in the tree last. */
export function findTree(rootPid: number, mark: string): RunProcess[] {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? describe(Number(name)) : []));
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

function describe(pid: number): RunProcess[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return [];
    return [{ pid, parentPid: Number(parent), isNode: isNode(pid) }];
  } catch {
    return [];
  }
}

function isNode(pid: number): boolean {
  try {
    return /^node(?:js)?(?:-?\d[\d.]*)?(?: \(deleted\))?$/.test(basename(readlinkSync(`/proc/${pid}/exe`)));
  } catch {
    return false;
  }
}

function carries(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark);
  } catch {
    return false;
  }
}

export function isAlive(pid: number): boolean {
  return describe(pid).length > 0;
}
