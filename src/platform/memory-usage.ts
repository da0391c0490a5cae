/** Memory of this process. A separate module, because the testing half of the preload needs nothing else of this room. */

export function memoryUsage(): NodeJS.MemoryUsage {
  try {
    return process.memoryUsage();
  } catch {
    return withoutResidentSize();
  }
}

export function residentBytes(): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    return mostResidentBytes();
  }
}

/** libuv returns kilobytes. */
const mostResidentBytes = (): number => process.resourceUsage().maxRSS * 1024;

/** Node reads the resident size from the kernel, and throws if this is not permitted. The peak is available without it. */
function withoutResidentSize(): NodeJS.MemoryUsage {
  const { total_heap_size, used_heap_size, external_memory } = process
    .getBuiltinModule('node:v8')
    .getHeapStatistics();
  return {
    rss: mostResidentBytes(),
    heapTotal: total_heap_size,
    heapUsed: used_heap_size,
    external: external_memory,
    arrayBuffers: 0,
  };
}
