/** Memory, processor time and limits; units as in the names. */
import { asText, entriesIn, isObject, type Json, numberIn, objectIn, present, textIn } from './lenient.ts';

export interface ReportHeap {
  totalBytes?: number;
  usedBytes?: number;
  limitBytes?: number;
  availableBytes?: number;
  committedBytes?: number;
  externalBytes?: number;
  mallocedBytes?: number;
  nativeContexts?: number;
  detachedContexts?: number;
  spaces: { name: string; sizeBytes?: number; usedBytes?: number; availableBytes?: number }[];
}

export function readReportHeap(json: Json | undefined): ReportHeap | undefined {
  if (!json) return undefined;
  const spaces = objectIn(json, 'heapSpaces') ?? {};
  return {
    ...present({
      totalBytes: numberIn(json, 'totalMemory'),
      usedBytes: numberIn(json, 'usedMemory'),
      limitBytes: numberIn(json, 'memoryLimit'),
      availableBytes: numberIn(json, 'availableMemory'),
      committedBytes: numberIn(json, 'totalCommittedMemory'),
      externalBytes: numberIn(json, 'externalMemory'),
      mallocedBytes: numberIn(json, 'mallocedMemory'),
      nativeContexts: numberIn(json, 'nativeContextCount'),
      detachedContexts: numberIn(json, 'detachedContextCount'),
    }),
    spaces: Object.keys(spaces)
      .slice(0, 100)
      .map((name) => {
        const space = objectIn(spaces, name);
        return {
          name,
          ...present({
            sizeBytes: numberIn(space, 'memorySize'),
            usedBytes: numberIn(space, 'used'),
            availableBytes: numberIn(space, 'available'),
          }),
        };
      }),
  };
}

export interface ReportUsage {
  rssBytes?: number;
  maxRssBytes?: number;
  freeMemoryBytes?: number;
  totalMemoryBytes?: number;
  /** The memory limit of the cgroup; absent if unlimited. */
  constrainedMemoryBytes?: number;
  userCpuSeconds?: number;
  kernelCpuSeconds?: number;
  cpuPercent?: number;
  majorPageFaults?: number;
  minorPageFaults?: number;
  fsReads?: number;
  fsWrites?: number;
}

export function readReportUsage(json: Json | undefined): ReportUsage | undefined {
  if (!json) return undefined;
  const faults = objectIn(json, 'pageFaults');
  const activity = objectIn(json, 'fsActivity');
  return present({
    rssBytes: numberOrText(json, 'rss'),
    maxRssBytes: numberIn(json, 'maxRss'),
    freeMemoryBytes: numberOrText(json, 'free_memory'),
    totalMemoryBytes: numberOrText(json, 'total_memory'),
    constrainedMemoryBytes: numberOrText(json, 'constrained_memory'),
    userCpuSeconds: numberIn(json, 'userCpuSeconds'),
    kernelCpuSeconds: numberIn(json, 'kernelCpuSeconds'),
    cpuPercent: numberIn(json, 'cpuConsumptionPercent'),
    majorPageFaults: numberIn(faults, 'IORequired'),
    minorPageFaults: numberIn(faults, 'IONotRequired'),
    fsReads: numberIn(activity, 'reads'),
    fsWrites: numberIn(activity, 'writes'),
  });
}

/** Some versions print memory sizes as strings. */
function numberOrText(json: Json, name: string): number | undefined {
  const text = textIn(json, name);
  if (text === undefined) return numberIn(json, name);
  return numberIn({ value: Number(text) }, 'value');
}

/** Soft and hard limits as strings, including `unlimited`, by Node's names: `open_files`, `stack_size_bytes`, … */
export function readUserLimits(json: Json | undefined): Record<string, { soft: string; hard: string }> {
  return entriesIn(json, (value) => {
    if (!isObject(value)) return undefined;
    const [soft, hard] = [asText(value['soft']), asText(value['hard'])];
    return soft === undefined || hard === undefined ? undefined : { soft, hard };
  });
}
