/** Next steps for the errors that programs most often die of. */
import type { ErrorFacts } from '../../../model/account.ts';
import { isTimeoutOfSignal } from '../../../model/errors/abort-text.ts';
import { isOfAnswer } from './of-answer.ts';

export const abortAdvice =
  'The call was aborted: look for the AbortSignal or time limit that was passed to it.';

export interface Advice {
  when(error: ErrorFacts): boolean;
  step: string;
  /** Advice that is omitted if a model call is the cause: the failed call has a better step. */
  isOfService?: true;
}

/** Clients that have codes of their own keep that of the system in the message. */
const coded = (codes: string[]) => (error: ErrorFacts) =>
  (error.code !== undefined && codes.includes(error.code)) ||
  codes.some((code) => error.message?.includes(` ${code} `));
const status =
  (...wanted: number[]) =>
  (error: ErrorFacts) =>
    isOfAnswer(error) &&
    wanted.includes(Number(error.properties?.['status'] ?? error.properties?.['statusCode']));

const says = (pattern: RegExp) => (error: ErrorFacts) => pattern.test(error.message ?? '');

const stackIsFull = /^Maximum call stack size exceeded/;

/** Built-in functions that go down a value by recursion, which V8 does not show as frames. */
const walksValue =
  /^(?:JSON\.(?:stringify|parse)|structuredClone|Array\.(?:flat|toString|join)|RegExp\.\w+|String\.(?:match|replace)\w*)$/;

/** The stack is full below such a function, and what called it does not call itself. */
function isOfNesting({ frames = [] }: ErrorFacts): boolean {
  if (!walksValue.test(frames[0]?.function ?? '')) return false;
  const places = frames.map(({ file, line, column }) => `${file}:${line}:${column}`);
  return new Set(places).size === places.length;
}

export const portIsHeld =
  'Another process holds the port: `ss -ltnp` names it. An older instance may still be shutting down.';

export const closedByReader: Advice = {
  when: coded(['EPIPE']),
  step: 'The reader had closed it. For process.stdout, the program that reads the output had ended; for a request, catch the error where the request is made.',
  isOfService: true,
};

/** Checked in order; the first match counts. */
const adviceTable: Advice[] = [
  {
    when: coded(['ERR_UNHANDLED_REJECTION']),
    step: 'Reject with an Error: only errors carry the stack that says where they come from.',
  },
  {
    when: coded(['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT']),
    step: 'Check that the service at that address was up; retry the connection with a delay.',
    isOfService: true,
  },
  {
    when: says(/^bad port$/),
    step: 'fetch sent nothing: it blocks ports that other protocols use (such as 25 or 6000). Use another port.',
  },
  {
    when: says(/^(?:unknown scheme|URL scheme must be a HTTP\(S\) scheme)$/),
    step: 'fetch sent nothing: the address does not begin with http: or https:.',
  },
  {
    when: coded(['ERR_INVALID_URL']),
    step: 'Nothing was sent: the address is not a valid URL. Check the setting it comes from; it must begin with http:// or https://.',
  },
  {
    when: coded(['ENOTFOUND', 'EAI_AGAIN']),
    step: 'The name did not resolve: check the host name, then DNS in that network.',
  },
  closedByReader,
  {
    when: coded(['ECONNRESET', 'UND_ERR_SOCKET', 'ETIMEDOUT']),
    step: 'The peer closed the connection. Catch the error where the request is made, and retry what is safe to repeat.',
    isOfService: true,
  },
  {
    when: coded(['EADDRINUSE']),
    step: portIsHeld,
  },
  {
    when: coded(['EACCES', 'EPERM']),
    step: "Check owner and mode of the path, and the user that the process runs as (a container's user differs).",
  },
  {
    when: coded(['ENOENT']),
    step: 'Check the path of the message against the working directory of the process.',
  },
  {
    when: status(401, 403),
    step: 'The API refused the credentials: check that the key is set in this environment and still valid.',
    isOfService: true,
  },
  {
    when: status(429),
    step: 'The API limits the rate: wait as long as its retry-after header says, and retry.',
    isOfService: true,
  },
  {
    when: (error) => status(400)(error) && says(/tool_use|tool_result|tool_call/)(error),
    step: 'The conversation holds a tool call without its result: add an error result for it before sending it again.',
    isOfService: true,
  },
  {
    when: status(500, 502, 503, 504, 529),
    step: 'The service failed on its side: retry with exponential backoff, and keep the state of the run.',
    isOfService: true,
  },
  {
    when: (error) => says(stackIsFull)(error) && isOfNesting(error),
    step: 'Nothing recurses in the program: the value is nested too deeply for that function, such as a long chain of objects. Find what built it, or walk it with a loop.',
  },
  {
    when: says(stackIsFull),
    step: 'Find the function that repeats in the stack, and what should have ended its recursion.',
  },
  {
    when: says(/^Cannot (read|set) properties of (undefined|null)/),
    step: 'Find out where the value should have come from: an argument, a lookup that found nothing, a reply without the field.',
  },
  {
    when: says(/ is not (a function|a constructor|iterable)$/),
    step: 'Compare what the value is with what the call expects; a changed package is a common reason.',
  },
  {
    when: (error) => error.name === 'AbortError' || isTimeoutOfSignal(error),
    step: abortAdvice,
  },
  {
    when: ({ name }) => name === 'TimeoutError',
    step: 'A time limit ran out: find out what had not answered in time, and whether the limit suits it.',
  },
];

/** The advice for one error of a chain. */
export const adviceFor = (error: ErrorFacts): Advice | undefined =>
  adviceTable.find(({ when }) => when(error));
