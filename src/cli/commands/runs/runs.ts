/** `agentdump runs`: the durable runs here, and what each waits for; or the story of one. */
import type { CommandModule } from 'yargs';
import { type RunSummary, summarizeRun, type WaitingQuestion } from '../../../durable/inspect.ts';
import { tellRun } from '../../../durable/run-story.ts';
import { formatCount } from '../../../model/quantities.ts';
import { type RunWords, runStoreOption, withStore } from '../../options/run-options.ts';
import { note, printForeign, printJson } from '../../output/output.ts';
import { oneLine } from './answer-question.ts';
import { renderStory } from './render-story.ts';

interface Words extends RunWords {
  run?: string | undefined;
  json?: boolean | undefined;
}

const command: CommandModule<object, Words> = {
  command: 'runs [run]',
  describe: 'List durable runs with their state and what they wait for, or show what one has done',
  builder: (yargs) =>
    yargs
      .positional('run', {
        type: 'string',
        describe: 'Run id: its processes, its steps and waits, and what to do next',
      })
      .options(runStoreOption)
      .option('json', { type: 'boolean', describe: 'Print JSON: a list of runs, or the run' }),
  handler: async ({ dir, json, run }) => {
    if (run !== undefined) {
      const story = await withStore(dir, (store) => tellRun(store, run));
      return json ? printJson(story, 2) : printForeign(renderStory(story));
    }
    const all = await withStore(dir, async (store) => {
      const ids = await store.list();
      return Promise.all(ids.map((id) => summarizeRun(store, id)));
    });
    const runs = all.filter(isThere);
    runs.sort((a, b) => (a.lastAt < b.lastAt ? 1 : -1));
    if (json) return printJson(runs, 2);
    if (!runs.length) return note(`no durable run in ${dir}`);
    printForeign(runs.map(render).join('\n\n'));
  },
};
export default command;

/** A folder among the runs that has no record, such as that of a store below it, is none. */
function isThere({ name, attempts, holder, notes }: RunSummary): boolean {
  return name !== '' || attempts > 0 || holder !== undefined || notes.length > 0;
}

function render(run: RunSummary): string {
  const { id, name, state, retryAt, steps, attempts, lastAt, holder, parent } = run;
  const failed = steps.failed ? `, ${steps.failed} failed` : '';
  const lives = attempts === 1 ? '' : `, attempt ${attempts}`;
  const lines = [
    `${id}  ${name}  ${state}${holder ? ` (${holder})` : ''}`,
    `  ${formatCount(steps.finished, 'step')} finished${failed}${lives}, last written ${lastAt}`,
  ];
  if (retryAt !== undefined) lines.push(`  failed, a worker restarts it from ${retryAt} on`);
  if (parent !== undefined) lines.push(`  child of ${parent}`);
  for (const path of run.inDoubt) lines.push(`  in doubt: ${path}`);
  for (const question of run.waitingFor) lines.push(...renderQuestion(question));
  for (const { id: checkpoint, label, at } of run.checkpoints.slice(-3))
    lines.push(`  checkpoint ${checkpoint}${label ? ` ${label}` : ''}, ${at}`);
  for (const line of run.notes) lines.push(`  ${line}`);
  return lines.join('\n');
}

function renderQuestion({
  path,
  id,
  askedAt,
  answered,
  request,
  signal,
  run,
  until,
}: WaitingQuestion): string[] {
  const over = until === undefined ? '' : ` until ${until}`;
  if (signal !== undefined) return [`  ${answered ? 'has come' : 'waits for'}: signal ${signal}${over}`];
  if (run !== undefined) return [`  ${answered ? 'has ended' : 'waits for'}: run ${run}`];
  if (until !== undefined) return [`  sleeps${over}: ${path}`];
  const state = answered ? 'answered, and not yet taken' : 'waits for approval';
  const asked = `  ${state}: ${path}, asked ${askedAt}${id === undefined ? '' : `, id ${id}`}`;
  return request === undefined ? [asked] : [asked, `    ${oneLine(request)}`];
}
