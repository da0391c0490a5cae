/** CPU time of the main thread, as the kernel counts it: seen from any thread. Source: proc(5), fields 14 and 15. */
import { readSmallFile } from '../proc-files.ts';

const tickMs = 10;

/** Milliseconds in user and system mode since its start; undefined where there is no /proc. */
export function readMainCpuMs(): number | undefined {
  const stat = readSmallFile(`/proc/self/task/${process.pid}/stat`);
  // The name is in parentheses and may hold anything.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields && (Number(fields[11]) + Number(fields[12])) * tickMs;
}
