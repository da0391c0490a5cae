/** The stacks that gdb finds in a core, each up to the first frame that it can't name. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const gdbScript = (untilUnnamed: boolean) => `
import gdb
until_unnamed = ${untilUnnamed ? 'True' : 'False'}
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frame = gdb.newest_frame()
    pcs = []
    while frame is not None and len(pcs) < 200 and (frame.name() is not None or not until_unnamed):
        if frame.type() in (gdb.NORMAL_FRAME, gdb.SIGTRAMP_FRAME):
            pcs.append('%x' % frame.pc())
        try:
            frame = frame.older()
        except gdb.error:
            break
    print('STACK', thread.ptid[1], ' '.join(pcs))
`;

/**
 * Program counters in hexadecimal by thread id, innermost first. `root`: the libraries of another machine, which have no
 * symbol names; stacks then go as far as gdb can unwind.
 */
export function readGdbStacks(
  executable: string,
  core: string,
  { gdb = 'gdb', root = '' } = {},
): Map<number, string[]> {
  const script = join(dirname(core), 'stacks.py');
  writeFileSync(script, gdbScript(root === ''));
  const libraries = root ? ['-iex', `set sysroot ${root}`] : [];
  const quiet = ['-nx', '-batch', '-iex', 'set debuginfod enabled off', ...libraries];
  const args = [...quiet, '-x', script, executable, core];
  const { stdout } = spawnSync(gdb, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  const lines = stdout.split('\n').filter((line) => line.startsWith('STACK'));
  return new Map(
    lines.map((line) => {
      const [, tid, ...pcs] = line.split(' ');
      return [Number(tid), pcs.filter(Boolean)];
    }),
  );
}
