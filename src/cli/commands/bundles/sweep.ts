/** `agentdump sweep`: writes bundles for programs that died without a handler and without a supervisor. */

import { resolve } from 'node:path';
import type { CommandModule } from 'yargs';
import { escapeTerminal } from '../../../report/escape-terminal.ts';
import { lockOf } from '../../../supervise/evidence/lock.ts';
import { type SweptSession, sweepSessions } from '../../../supervise/finish/sweep.ts';
import { makeScrubber } from '../../../supervise/scrub/scrubber.ts';
import { exitCodes } from '../../exit-codes.ts';
import { dirOption } from '../../options/bundle-options.ts';
import { print } from '../../output/output.ts';
import { backgroundSend } from '../store/background-send.ts';

const command: CommandModule = {
  command: 'sweep',
  describe: 'Write bundles for processes that died without one (SIGKILL, out of memory, power loss)',
  builder: {
    dir: dirOption,
    json: { type: 'boolean', describe: 'Print JSON', default: false },
  },
  handler: (words) => {
    const dir = resolve(String(words['dir']));
    const swept = sweepSessions({
      dir,
      witness: { foundBy: 'sweep' },
      scrubber: makeScrubber(process.env),
      ...lockOf(process.env),
    });
    print(
      words['json']
        ? JSON.stringify({ sessions: swept.map(({ id, result }) => ({ id, ...result })) })
        : renderSwept(swept),
    );
    if (swept.some(({ result }) => result.outcome === 'sealed')) backgroundSend(dir, process.env)?.send();
    if (swept.some(({ result }) => result.outcome === 'failed'))
      process.exitCode = exitCodes.explainedWithGaps;
  },
};
export default command;

function renderSwept(swept: readonly SweptSession[]): string {
  if (swept.length === 0) return 'No sessions here.';
  return swept.map(({ id, result }) => `${id}  ${escapeTerminal(sentenceFor(result))}`).join('\n');
}

function sentenceFor(result: SweptSession['result']): string {
  switch (result.outcome) {
    case 'sealed':
      return `${result.verdictKind}: ${result.path}`;
    case 'cleared':
      return result.bundle ? `explained already: ${result.bundle}` : 'ended well';
    case 'left':
      return `left alone: ${result.because}`;
    case 'failed':
      return `failed: ${result.because}`;
  }
}
