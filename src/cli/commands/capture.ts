/** `agentdump capture <pid>`: a bundle of a running Node process, which continues. */

import { join, resolve } from 'node:path';
import type { CommandModule } from 'yargs';
import { ensureDumpFolder } from '../../bundle/write/safe-folder.ts';
import { AgentdumpError } from '../../errors.ts';
import { escapeTerminal } from '../../report/escape-terminal.ts';
import type { Capture } from '../../supervise/attach/capture-live.ts';
import { dirOption } from '../options/bundle-options.ts';
import { note, print } from '../output/output.ts';
import { captureProcess } from './capture-process.ts';
import { backgroundSend } from './store/background-send.ts';

const command: CommandModule = {
  command: 'capture <pid>',
  describe: 'Write a bundle of a running Node process, which continues; no preload needed',
  builder: (yargs) =>
    yargs
      .positional('pid', { type: 'number', describe: 'Process id', demandOption: true })
      .option('dir', dirOption)
      .option('reason', { type: 'string', describe: 'Reason to record in the bundle' })
      .option('heap', {
        type: 'boolean',
        describe: 'Include its heap, read out of a copy of its memory; the process is paused for the copy',
        default: false,
      })
      .option('v8-heap', {
        type: 'boolean',
        describe: 'Include a heap snapshot that V8 writes; the process is paused until it is written',
        default: false,
      })
      .option('core', {
        type: 'boolean',
        describe:
          'Read its memory: a redacted mini core goes into the bundle, the full core (unredacted) beside it',
        default: false,
      })
      .option('stop', {
        type: 'boolean',
        describe: 'Leave the process stopped (SIGSTOP) for a debugger',
        default: false,
      })
      .option('json', { type: 'boolean', describe: 'Print JSON', default: false }),
  handler: async (words) => {
    const pid = Number(words['pid']);
    if (!Number.isSafeInteger(pid) || pid < 1)
      throw new AgentdumpError('usage', 'capture wants a process id', { argument: 'pid' });
    const reason = words['reason'];
    const dir = resolve(String(words['dir']));
    const core = words['core'] === true;
    const byV8 = words['v8-heap'] === true;
    // A user who wants nothing unencrypted on the disk gets the mini core, in the encrypted bundle.
    const keepsCore = core && !process.env['AGENTDUMP_RECIPIENT'];
    // The folder and the file are only readable by their owner.
    if (core) ensureDumpFolder(dir);
    const capture = await captureProcess({
      pid,
      dir,
      heap: words['heap'] === true || byV8,
      byV8,
      stop: words['stop'] === true,
      core,
      ...(keepsCore && { keepCore: join(dir, `${pid}-${Date.now()}.core`) }),
      ...(typeof reason === 'string' && { reason }),
    });
    backgroundSend(dir, process.env)?.send();
    print(words['json'] ? JSON.stringify(capture) : escapeTerminal(capture.path));
    if (capture.corePath !== undefined && !words['json'])
      note(`the whole core, which holds the memory in the clear: ${capture.corePath}`);
    if (core && !keepsCore)
      note('AGENTDUMP_RECIPIENT rules out a core in the clear: only the mini core in the bundle is kept');
    if (words['stop']) note(`process ${pid} is stopped; let it go on with: kill -CONT ${pid}`);
    if (capture.unasked)
      note('its main thread was not asked: another process has the inspector’s port, 9229');
    else if (!capture.answered)
      note(
        'its main thread did not answer: it is in native code or a system call, or handles SIGUSR1 itself',
      );
    else if (!words['json']) note(pauseText(capture.pausedMs));
    if (capture.heap && !words['json']) note(heapText(capture.heap));
  },
};
export default command;

function pauseText(stackMs: number): string {
  return `for its stacks the main thread stood still for ${Math.round(stackMs)} ms`;
}

function heapText({ from, pausedMs, reason }: NonNullable<Capture['heap']>): string {
  const how = from === 'memory' ? 'was read out of a copy of its memory' : 'was written by V8';
  const why = reason === undefined ? '' : `; its memory could not be read: ${reason}`;
  return `its heap ${how}, for which it stood still for ${Math.round(pausedMs)} ms${why}`;
}
