/**
 * The server of the workbench: on the loopback address, behind a token in the URL. It is read-only; the only thing that a
 * page can end is a job that it is waiting for.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AgentdumpError } from '../../errors.ts';
import { escapeTerminal } from '../../report/escape-terminal.ts';
import { readQuestion } from '../heap/read-question.ts';
import { Jobs } from '../items/jobs.ts';
import type { Targets } from '../items/targets.ts';
import type { Question } from '../items/work.ts';
import { readMemoryQuestion } from '../memory/read-question.ts';
import { type AnswerInBatch, mostQuestions } from '../protocol.ts';
import { securityHeaders } from './document.ts';
import { sendEvents } from './events.ts';
import { judgeRequest } from './guard.ts';
import { documentFor, heapKey, memoryKey, type Surroundings } from './views.ts';

export interface WorkbenchOptions {
  targets: Targets;
  keys?: Surroundings['keys'];
  executable?: string | undefined;
  /** 0 for any free port. */
  port?: number;
  /** The page's script and style sheet. */
  assets: { script: string; style: string };
}

export interface Workbench {
  /** With the token. */
  url: string;
  close(): Promise<void>;
}

/** Throws `unwritable` if the port is not available. */
export async function serveWorkbench(options: WorkbenchOptions): Promise<Workbench> {
  const token = randomBytes(24).toString('base64url');
  const jobs = new Jobs();
  const { targets, keys, executable } = options;
  const surroundings: Surroundings = {
    base: `/${token}/`,
    targets,
    jobs,
    ...(keys && { keys }),
    ...(executable !== undefined && { executable }),
  };
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    answer(request, response, port, token, options, surroundings).catch((error: Error) => {
      if (!response.headersSent) sendText(response, 500, `This failed: ${escapeTerminal(error.message)}`);
      else response.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new AgentdumpError(
          'unwritable',
          `cannot listen on port ${options.port}: ${cause.code}`,
          { reason: cause.code },
          cause,
        ),
      ),
    );
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/${token}/`,
    async close() {
      jobs.close();
      await targets.fleet?.close();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  port: number,
  token: string,
  { assets }: WorkbenchOptions,
  surroundings: Surroundings,
): Promise<void> {
  const verdict = judgeRequest(request, port, token);
  if ('status' in verdict) return sendText(response, verdict.status, verdict.text);
  const { path } = verdict;
  if (path === 'workbench.js') return send(response, 200, 'text/javascript', assets.script);
  if (path === 'workbench.css') return send(response, 200, 'text/css', assets.style);
  const [, key = '', act] = /^jobs\/([^/]+)\/(events|cancel)$/.exec(path) ?? [];
  if (act !== undefined) {
    const job = surroundings.jobs.get(key);
    if (!job) return sendText(response, 404, 'There is no such job.');
    if (act === 'events') return sendEvents(job, request, response);
    surroundings.jobs.forget(key);
    return sendText(response, 200, 'cancelled');
  }
  const [, kind = '', id] = /^(heap|memory)\/([^/]+)\/ask$/.exec(path) ?? [];
  if (id !== undefined) {
    const { keyOf, read } = askable[kind as keyof typeof askable];
    return answerQuestions(
      keyOf(id),
      verdict.query.getAll('q').map((text) => () => read(text)),
      response,
      surroundings,
    );
  }
  const document = await documentFor(path, surroundings);
  if (document === undefined) return sendText(response, 404, 'There is nothing of that name.');
  if (typeof document !== 'string') {
    response.writeHead(302, { ...securityHeaders, location: document.location }).end();
    return;
  }
  send(response, 200, 'text/html', document);
}

/** What can be asked, by the first word of its address. */
const askable = {
  heap: { keyOf: heapKey, read: readQuestion },
  memory: { keyOf: memoryKey, read: readMemoryQuestion },
} as const;

/** The answers are a JSON array in the order of the questions, each with an answer or the reason why there is none. */
async function answerQuestions(
  key: string,
  reads: readonly (() => Question)[],
  response: ServerResponse,
  { jobs }: Surroundings,
): Promise<void> {
  const job = jobs.get(key);
  if (!job) return sendText(response, 410, 'This is no longer open: load the page again.');
  if (reads.length === 0 || reads.length > mostQuestions)
    return sendText(response, 400, `From one to ${mostQuestions} questions are answered.`);
  const answerTo = async (read: () => Question): Promise<string> => {
    try {
      return `{"answer":${await job.ask(read())}}`;
    } catch (error) {
      if (!(error instanceof AgentdumpError) || error.code === 'not-found') throw error;
      return JSON.stringify({ reason: error.message } satisfies AnswerInBatch);
    }
  };
  try {
    send(response, 200, 'application/json', `[${await Promise.all(reads.map(answerTo))}]`);
  } catch (error) {
    if (!(error instanceof AgentdumpError)) throw error;
    // Its thread has ended, for example out of memory.
    jobs.forget(key);
    sendText(response, 410, error.message);
  }
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  const bytes = Buffer.from(body);
  response
    .writeHead(status, {
      ...securityHeaders,
      'content-type': `${type}; charset=utf-8`,
      'content-length': bytes.length,
    })
    .end(bytes);
}

const sendText = (response: ServerResponse, status: number, text: string): void =>
  send(response, status, 'text/plain', `${text}\n`);
