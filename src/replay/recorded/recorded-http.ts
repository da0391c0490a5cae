/**
 * What was recorded of requests that are no model calls, where `AGENTDUMP_CAPTURE_HTTP=content` had their content kept.
 */
import type { AgentEvent, HttpAsked, HttpBody } from '../../journal/layout/agent.ts';

export interface RecordedHttp extends HttpAsked {
  id: string;
  method: string;
  /** With the port, where there is one. */
  host: string;
  /** What can be given as its answer; or why nothing can. */
  answer: HttpAnswer | { refused: string };
}

export interface HttpAnswer {
  /** 0: nothing was answered. */
  status: number;
  headers: Record<string, string>;
  text: string;
  /** cut: the connection ends before the answer does. open: it was still being given when the program died. */
  end: 'whole' | 'cut' | 'open';
}

type Of<Kind extends AgentEvent['kind']> = Extract<AgentEvent, { kind: Kind }>;

/** In the order in which they were sent. */
export function readHttp(events: readonly AgentEvent[]): RecordedHttp[] {
  const partial = new Map(
    events.flatMap((event) => (event.kind === 'http.answer' ? [[event.http, event]] : [])),
  );
  const ends = new Map(events.flatMap((event) => (event.kind === 'http.end' ? [[event.http, event]] : [])));
  return events.flatMap((event): RecordedHttp[] => {
    if (event.kind !== 'http.start' || typeof event.asked?.path !== 'string') return [];
    const { http: id, method, host, asked } = event;
    return [{ id, method, host, ...asked, answer: answerOf(ends.get(id), partial.get(id)) }];
  });
}

/** What of other requests a replay can't answer, or not as it was, in words. */
export function findHttpGaps(events: readonly AgentEvent[], requests: readonly RecordedHttp[]): string[] {
  let [bare, skipped] = [0, 0];
  for (const event of events) {
    // Of a request that was over soon, there is an end only.
    const isStart = event.kind === 'http.start' || (event.kind === 'http.end' && event.method !== undefined);
    if (isStart && !('asked' in event)) bare++;
    else if (event.kind === 'http.skipped') skipped += event.count;
  }
  const gaps: string[] = [];
  if (bare)
    gaps.push(
      `${count(bare, 'other request was', 'other requests were')} recorded without content; record them with AGENTDUMP_CAPTURE_HTTP=content`,
    );
  if (skipped)
    gaps.push(`${count(skipped, 'request was', 'requests were')} not recorded, for they came too fast`);
  const withheld = requests.filter(({ answer }) => 'text' in answer && answer.text.includes('[redacted:'));
  if (withheld.length)
    gaps.push(
      `${count(withheld.length, 'answer held a secret', 'answers held secrets')}: the program gets what stands in its place`,
    );
  return gaps;
}

function answerOf(
  end: Of<'http.end'> | undefined,
  partial: Of<'http.answer'> | undefined,
): HttpAnswer | { refused: string } {
  const { answered, httpStatus: status = 0 } = end ?? partial ?? {};
  if (status > 0 && !answered) return { refused: 'its answer was recorded without content' };
  const { headers = {}, body } = answered ?? {};
  if (body?.gap) return { refused: reasonOf(body) };
  return { status, headers, text: body?.text ?? '', end: endOf(end) };
}

const reasons = {
  cut: 'of which only the beginning is kept',
  binary: 'which are no text and not kept',
  encoding: 'whose encoding could not be undone',
};

function reasonOf({ bytes, gap }: HttpBody): string {
  return `its answer has ${bytes} bytes, ${gap ? reasons[gap] : ''}`;
}

function endOf(end: Of<'http.end'> | undefined): HttpAnswer['end'] {
  if (!end || end.status === 'aborted') return 'open';
  return end.status === 'cut' || end.httpStatus === undefined ? 'cut' : 'whole';
}

const count = (n: number, one: string, many: string) => `${n} ${n === 1 ? one : many}`;
