/**
 * `environment.json` of a process that could not write it: the machine as the finder sees it, and the variables if the finder
 * is the parent that passed them on. Later changes by the process are not known.
 */
import { cpus, hostname, loadavg, release, type, uptime, version } from 'node:os';
import type { EvidencePart } from '../../bundle/layout/evidence.ts';
import type { EnvironmentPart } from '../../bundle/layout/surroundings.ts';
import type { Scrubber } from '../scrub/scrubber.ts';

type Found = Partial<Omit<EnvironmentPart, 'os'>> & { os: Partial<EnvironmentPart['os']> };

/** Undefined on another machine and after a reboot, when the kernel may be a different one. */
export function describeEnvironment(
  { boot, exit, process: dead }: EvidencePart,
  scrubber: Scrubber,
): Found | undefined {
  if (!boot || boot.atStart !== boot.now) return undefined;
  const machine = { type: type(), release: release(), version: version(), hostname: hostname() };
  const os = { ...machine, cpus: cpus().length };
  // If the end was not observed, uptime and load are those of a later time.
  if (!exit) return { os };
  const now = { ...os, uptimeSeconds: Math.round(uptime()), loadAverage: loadavg() };
  const isOwnChild = dead.parentPid === process.pid;
  return { ...(isOwnChild && { variables: scrubber.environment(process.env) }), os: now };
}
