/** `agentdump replay <bundle> -- command …`: runs the program again, with its recorded model replies. */
import type { CommandModule } from 'yargs';
import { type Mask, masking } from '../../agent/calls/masks.ts';
import type { Recording } from '../../replay/recorded/recording.ts';
import { type ReplayOptions, replay } from '../../replay/replay.ts';
import { type Expectation, exitCodeFor, renderReplay } from '../../replay/result.ts';
import { type BundleWords, bundlePositional, dirOption, keyOptions } from '../options/bundle-options.ts';
import { liveOption, programOf, readMeant } from '../options/recording-words.ts';
import { note, printForeign, printJson } from '../output/output.ts';
import { pauseBefore } from '../pause.ts';

interface Words extends BundleWords {
  expect?: Expectation | undefined;
  onMismatch?: ReplayOptions['onMismatch'] | undefined;
  live?: string[] | undefined;
  mask?: Mask[] | undefined;
  hold?: ReplayOptions['hold'] | undefined;
  tool?: string[] | undefined;
  until?: string | undefined;
  inspect?: boolean | undefined;
  realClock?: boolean | undefined;
  json?: boolean | undefined;
  saveTest?: string | undefined;
  runner: 'node:test' | 'vitest';
  '--'?: string[] | undefined;
}

const command: CommandModule<object, Words> = {
  command: 'replay <bundle>',
  describe: 'Rerun the program with its recorded model replies, and check whether it dies the same way',
  builder: (yargs) =>
    yargs
      .usage('$0 replay <bundle> [options] -- node agent.js')
      .positional('bundle', {
        ...bundlePositional,
        describe: `${bundlePositional.describe}; or a saved recording`,
      })
      .option('expect', {
        choices: ['same', 'fixed'] as const,
        describe: 'Exit code 0 if the crash is the same, or if it is fixed; otherwise 1',
      })
      .option('on-mismatch', {
        choices: ['stop', 'live', 'answer'] as const,
        default: 'stop' as const,
        describe:
          'For a request that differs from the recording: stop, send it (live), or answer with the next reply',
      })
      .option('live', liveOption)
      .option('tool', {
        type: 'string',
        array: true,
        requiresArg: true,
        describe:
          'Tool whose recorded results are used (agent.tool, AI SDK, LangChain, OpenAI Agents); other tools run',
      })
      .option('mask', {
        type: 'string',
        array: true,
        requiresArg: true,
        coerce: checkMasks,
        describe: 'Not compared in requests: time, id, or /pattern/ (only its groups, if it has any)',
      })
      .option('hold', {
        choices: ['files', 'commands', 'mcp'] as const,
        array: true,
        requiresArg: true,
        describe: 'Stop before the first such effect; otherwise effects are repeated and reported',
      })
      .option('until', {
        type: 'string',
        describe: 'Stop before this call, step or tool (c3, s2, or a name)',
      })
      .option('inspect', { type: 'boolean', describe: 'Open the debugger there, or before the last reply' })
      .option('real-clock', { type: 'boolean', describe: 'Use the real clock instead of the recorded time' })
      .option('save-test', {
        type: 'string',
        describe: 'Write a regression test with the recording into this folder',
      })
      .option('runner', {
        choices: ['node:test', 'vitest'] as const,
        default: 'node:test' as const,
        describe: 'Test runner of that test',
      })
      .option('json', { type: 'boolean', describe: 'Print JSON' })
      .option('dir', dirOption)
      .options(keyOptions)
      .epilogue(
        'Exit code without --expect: 0 same death, 1 anything else. 2 usage, 3 unreadable input, 4 internal error.',
      ),
  handler: async (words) => {
    const recording = await readMeant(words);
    const program = programOf(words, recording);
    if (words.saveTest !== undefined) return saveTest(words.saveTest, recording, program, words);
    const others = recording.http.length;
    note(
      `replaying ${recording.title}: ${recording.calls.length} recorded model call${recording.calls.length === 1 ? '' : 's'}${others ? ` and ${others} other requests` : ''}`,
    );
    for (const gap of recording.gaps) note(gap);
    const beforeReply = pauseBefore(recording, words);
    const result = await replay({
      recording,
      command: program,
      onMismatch: words.onMismatch ?? 'stop',
      realClock: words.realClock === true,
      live: words.live ?? [],
      masks: words.mask ?? [],
      hold: words.hold ?? [],
      tools: words.tool ?? [],
      ...(beforeReply && { beforeReply }),
      note,
    });
    if (words.json) printJson(result);
    else printForeign(renderReplay(result, recording));
    process.exitCode = exitCodeFor(result, words.expect);
  },
};
export default command;

async function saveTest(dir: string, recording: Recording, command: string[], words: Words) {
  const { writeTest } = await import('../../replay/save-test.ts');
  const { runner, live = [], mask: masks = [] } = words;
  const test = { dir, recording, command, runner, live, masks: masks.map(String) };
  for (const path of writeTest(test)) printForeign(path);
}

/** A mask that is not valid is an error of usage before anything runs. */
function checkMasks(masks: Mask[] | undefined): Mask[] | undefined {
  masking(masks ?? []);
  return masks;
}
