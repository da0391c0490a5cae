/** The story of one durable run as text: a line a step or wait, in the order of the calls. */
import type { RunStory, StoryStep, StoryWait } from '../../../durable/run-story.ts';
import { formatDuration } from '../../../model/quantities.ts';
import { oneLine } from './answer-question.ts';

export function renderStory(run: RunStory): string {
  const { id, name, state, holder, error, queue, parent, beganAt, lastAt, lives, course, next } = run;
  const lines = [
    `${id}  ${name}  ${state}${holder ? ` (${holder})` : ''}`,
    `  began ${beganAt}, last written ${lastAt}`,
  ];
  if (error !== undefined) lines.push(`  ${asLine(error)}`);
  if (queue) lines.push(`  queue ${queue.name}${queue.key === undefined ? '' : `, key ${queue.key}`}`);
  if (parent !== undefined) lines.push(`  child of ${parent}`);
  if (lives.length) lines.push('', 'Processes');
  for (const [index, { at, pid, host, node }] of lives.entries())
    lines.push(`  ${index + 1}  ${at}  pid ${pid} on ${host}, Node ${node}`);
  if (course.length) lines.push('', 'Course');
  lines.push(...renderCourse(course, Date.parse(beganAt)));
  for (const line of run.notes) lines.push(`  ${line}`);
  if (next.length) lines.push('', 'Next', ...next.map((line) => `  ${line}`));
  return lines.join('\n');
}

const longestOffset = 12;

function renderCourse(course: RunStory['course'], beganAtMs: number): string[] {
  const kindWidth = Math.max(...course.map(({ kind }) => kind.length));
  const pathWidth = Math.min(40, Math.max(...course.map(({ path }) => path.length)));
  return course.flatMap((entry) => {
    const offset = `+${formatDuration(Date.parse(entry.startedAt) - beganAtMs)}`.padStart(longestOffset);
    const head = `${offset}  ${entry.kind.padEnd(kindWidth)}  ${entry.path.padEnd(pathWidth)}  `;
    const text = isWait(entry) ? waitText(entry) : stepText(entry);
    const further = isWait(entry) && entry.request !== undefined ? [oneLine(entry.request)] : [];
    return [`${head}${text}`, ...further.map((line) => `${' '.repeat(longestOffset + 2)}${line}`)];
  });
}

/** A message of several lines must not look like the sections of the story. */
function asLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, ' ');
}

function isWait(entry: StoryStep | StoryWait): entry is StoryWait {
  return !('attempts' in entry);
}

const stepWords: Record<StoryStep['state'], string> = {
  finished: 'finished',
  failed: 'failed',
  skipped: 'skipped',
  running: 'is running',
  'in doubt': 'in doubt',
  again: 'to be done again',
  open: 'has not ended',
  'called off': 'called off',
};

function stepText({ state, durationMs, attempts, error, because }: StoryStep): string {
  const time = durationMs === undefined ? '' : ` in ${formatDuration(durationMs)}`;
  const tries = attempts > 1 ? `, attempt ${attempts}` : '';
  return `${stepWords[state]}${time}${tries}${because ? ` (${because})` : ''}${error ? `: ${asLine(error)}` : ''}`;
}

function waitText(wait: StoryWait): string {
  const { kind, state, id, durationMs, approved, by, until, run, signal } = wait;
  const time = durationMs === undefined ? '' : ` after ${formatDuration(durationMs)}`;
  const whom =
    run ?? signal ?? (kind === 'approval' ? `a person${id === undefined ? '' : `, id ${id}`}` : '');
  if (state === 'called off') return `called off${time}`;
  if (state === 'answered') return 'answered, and not yet taken';
  if (state === 'waiting')
    return kind === 'sleep'
      ? `sleeps until ${until}`
      : `waits for ${whom}${until === undefined ? '' : ` until ${until}`}`;
  if (kind === 'approval' && approved !== undefined)
    return `${approved ? 'approved' : 'rejected'}${by ? ` by ${by}` : ''}${time}`;
  return `over${time}`;
}
