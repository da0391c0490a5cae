/**
 * The newest calls and results of each run, as hashes, and whether their tail repeats: the same call with the same result, or
 * two alternating calls. A different result breaks the pattern, so that polling is not reported. Bounded.
 */
import { hashOf } from '../node-modules.ts';

export type EventFacts = Record<string, unknown>;

export interface Repeated {
  /** The number of calls and results in one repetition. */
  length: number;
  times: number;
}

const longestPeriod = 8;
const mostRuns = 64;
const mostOpen = 1000;
const mostKept = 1024;

export class RepeatedTail {
  readonly #runs = new Map<string, string[]>();
  readonly #runOfTool = new Map<string, string>();
  #last: string[] = [];

  /** Returns whether the event was a call or a result. `content` is the host's data as it was recorded. */
  add(kind: string, facts: EventFacts, content: EventFacts | undefined): boolean {
    const marks = marksOf(kind, facts, content);
    if (marks.length === 0) return false;
    this.#last = this.#tailOf(this.#findRun(kind, facts));
    this.#last.push(...marks);
    if (this.#last.length > mostKept) this.#last.splice(0, mostKept / 2);
    return true;
  }

  /** The shortest pattern that occurred `times` times in a row at the end of the run that was last added to. */
  find(times: number): Repeated | undefined {
    const tail = this.#last;
    for (let length = 1; length <= longestPeriod; length++) {
      const wanted = length * times;
      if (wanted > tail.length) return undefined;
      let same = length;
      while (same < wanted && tail.at(-1 - same) === tail.at(-1 - same + length)) same++;
      if (same >= wanted) return { length, times };
    }
    return undefined;
  }

  /** The end event of a call has no run id. */
  #findRun(kind: string, facts: EventFacts): string {
    const id = String(facts['id']);
    if (kind === 'tool.end') {
      const run = this.#runOfTool.get(id) ?? '';
      this.#runOfTool.delete(id);
      return run;
    }
    const run = String(facts['run'] ?? '');
    if (kind === 'tool.start' && this.#runOfTool.size < mostOpen) this.#runOfTool.set(id, run);
    return run;
  }

  #tailOf(run: string): string[] {
    let tail = this.#runs.get(run);
    if (!tail) {
      if (this.#runs.size >= mostRuns) this.#runs.clear();
      tail = [];
      this.#runs.set(run, tail);
    }
    return tail;
  }
}

/** Of a call the name and arguments, of a result its content. Without them no repetition can be detected. */
function marksOf(kind: string, facts: EventFacts, content: EventFacts | undefined): string[] {
  if (kind === 'tool.start')
    return content?.['arguments'] === undefined ? [] : [mark(content['name'], content['arguments'])];
  if (kind === 'tool.end') return [mark(facts['status'], content?.['result'], content?.['error'])];
  if (kind !== 'message' || !Array.isArray(content?.['parts'])) return [];
  return (content['parts'] as EventFacts[]).flatMap((part) => {
    if (part?.['type'] === 'tool_call') return [mark(part['name'], part['arguments'])];
    return part?.['type'] === 'tool_call_response' ? [mark(part['isError'], part['response'])] : [];
  });
}

function mark(...values: unknown[]): string {
  return hashOf('sha256', JSON.stringify(values)).slice(0, 16);
}
