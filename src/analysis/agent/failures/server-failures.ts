/** An MCP server that ended while its client used it: its exit code and its last output explain the client's error. */
import type { AgentError, AgentFailure, McpServer } from '../../../model/agent-state.ts';
import { foldCommand, withoutFolders } from '../../../model/command-text.ts';
import { clip } from '../../../model/quantities.ts';
import { everyError } from '../../verdict/wording.ts';
import {
  causeBy,
  errorText,
  evidenceOf,
  type FailureInput,
  type FailureRule,
  isInError,
} from './failure-input.ts';

/** The MCP SDK's code for a closed connection. */
const connectionClosed = -32000;

export const serverFailures: FailureRule = (input) => {
  const { agent, error } = input;
  const isClosed = everyError(error).some(
    ({ code, message = '' }) =>
      code === 'EPIPE' || code === String(connectionClosed) || /-32000|Connection closed|EPIPE/.test(message),
  );
  return (agent.servers ?? []).flatMap((server) => {
    const { ended } = server;
    if (!ended) return [];
    if (ended.error) return [unreachable(server, ended.error, input)];
    const isBad = ended.exitCode !== 0 || ended.signal !== undefined;
    return isClosed || isBad ? [describe(server, ended, isClosed, input)] : [];
  });
};

function describe(
  { id, command, pid }: McpServer,
  { exitCode, signal, stderr }: NonNullable<McpServer['ended']>,
  isClosed: boolean,
  input: FailureInput,
): AgentFailure {
  const how = signal ?? (exitCode === undefined ? undefined : `exit code ${exitCode}`);
  const own = input.children?.find((child) => child.pid === pid)?.verdict?.title;
  const name = command === undefined ? `server ${id}` : foldCommand(withoutFolders(command), 80);
  return {
    kind: 'server-died',
    title: `the MCP server ${name} ended${how ? ` with ${how}` : ''}${own ? `: ${own.replace(/\.$/, '')}` : ''}`,
    confidence: 'certain',
    evidence: [
      evidenceOf(
        `MCP server ${id}${pid === undefined ? '' : ` (pid ${pid})`} ended${how ? `: ${how}` : ''}.`,
      ),
      ...(stderr
        ? [evidenceOf(`Its last words: ${clip(stderr.trim().split('\n').slice(-3).join(' / '), 300)}`)]
        : []),
    ],
    // Many connections may close, and the error doesn't identify which one did.
    ...causeBy(input, id, isClosed),
    runId: input.agent.runs[0]?.id ?? '',
    nextStep: `${stderr ? 'Look at the last words of the server above, and handle' : 'Handle'} the end of the server: start it again, or tell the model that its tools are gone.`,
  };
}

function unreachable({ id, command }: McpServer, said: AgentError, input: FailureInput): AgentFailure {
  const { error } = input;
  const codes = everyError(error).map(({ code }) => code);
  return {
    kind: 'server-died',
    title: `the MCP server at ${command ?? id} could not be reached: ${errorText(said)}`,
    confidence: 'certain',
    evidence: [evidenceOf(`A request to MCP server ${id} (${command ?? ''}) failed: ${errorText(said)}`)],
    ...causeBy(
      input,
      id,
      isInError(error, said.message) || (said.code !== undefined && codes.includes(String(said.code))),
    ),
    runId: input.agent.runs[0]?.id ?? '',
    nextStep:
      'Check that the server runs at that address; connect to it where a failure can be caught, and try again.',
  };
}
