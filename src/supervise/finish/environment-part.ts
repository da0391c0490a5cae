/**
 * `environment.json` of a process that could not write it: the machine, as whoever finds the death on it sees it, and the
 * variables, where the finder is the parent who handed them on. What the process changed afterwards is not known.
 */
import { cpus, hostname, loadavg, release, type, uptime, version } from 'node:os';
import type { EvidencePart } from '../../bundle/layout/evidence.ts';
import type { EnvironmentPart } from '../../bundle/layout/surroundings.ts';
import type { Scrubber } from '../scrub/scrubber.ts';

type Found = Partial<Omit<EnvironmentPart, 'os'>> & { os: Partial<EnvironmentPart['os']> };

/** Undefined on another machine, and after a reboot: the kernel may be another one. */
export function describeEnvironment(
  { boot, exit, process: dead }: EvidencePart,
  scrubber: Scrubber,
): Found | undefined {
  if (!boot || boot.atStart !== boot.now) return undefined;
  const machine = { type: type(), release: release(), version: version(), hostname: hostname() };
  const os = { ...machine, cpus: cpus().length };
  // Who did not see the end finds the machine in another hour.
  if (!exit) return { os };
  const now = { ...os, uptimeSeconds: Math.round(uptime()), loadAverage: loadavg() };
  const isOwnChild = dead.parentPid === process.pid;
  return { ...(isOwnChild && { variables: scrubber.environment(process.env) }), os: now };
}
