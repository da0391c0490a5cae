/**
 * Recorded requests that are not model calls, if their content was captured with `AGENTDUMP_CAPTURE_HTTP=content`.
 */
import type { AgentEvent, HttpAsked, HttpBody } from '../../journal/layout/agent.ts';

export interface RecordedHttp extends HttpAsked {
  id: string;
  method: string;
  /** With the port, if any. */
  host: string;
  /** The answer that can be sent, or the reason why there is none. */
  answer: HttpAnswer | { refused: string };
}

export interface HttpAnswer {
  /** 0: there was no answer. */
  status: number;
  headers: Record<string, string>;
  text: string;
  /** `cut`: the connection ended before the answer did. `open`: the answer was incomplete when the program died. */
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

/** Requests that a replay can't answer, or only differently, as texts. */
export function findHttpGaps(events: readonly AgentEvent[], requests: readonly RecordedHttp[]): string[] {
  let [bare, skipped] = [0, 0];
  for (const event of events) {
    // A short request has only an end event.
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
