/** The messages to and from the model, scrolled to the end; a reply that was cut is marked. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Account } from '../../../model/account.ts';
import type { AgentMessage, AgentRun } from '../../../model/agent-state.ts';
import { formatCount, formatNumber } from '../../../model/quantities.ts';
import { LongText } from '../parts/small.tsx';
import { Value } from '../parts/value.tsx';
import { isPrinting, isUnfolded, target, unfold } from '../state.ts';
import { messageAnchor } from './message-anchor.ts';

const shownAtFirst = 24;
const shownMore = 100;
const mostRuns = 40;
const mostPrinted = 200;

export function Conversation({ account: { agent } }: { account: Account }) {
  const runs = (agent?.runs ?? []).flatMap((run, index) =>
    run.messages.length || run.reportedMessages?.length ? [{ run, index }] : [],
  );
  const [only] = runs;
  if (runs.length === 1 && only) return <Talk run={only.run} index={only.index} />;
  return (
    <>
      {runs.slice(0, mostRuns).map(({ run, index }, n) => (
        <FoldedTalk key={index} run={run} index={index} byDefault={n === 0} />
      ))}
      {runs.length > mostRuns ? (
        <p class="faint">{formatCount(runs.length - mostRuns, 'more conversation')}: agentdump agent</p>
      ) : null}
    </>
  );
}

interface TalkProps {
  run: AgentRun;
  index: number;
}

function FoldedTalk({ run, index, byDefault }: TalkProps & { byDefault: boolean }) {
  const id = `conversation-${index + 1}`;
  const isOpen = isUnfolded(id, byDefault || target.value.startsWith(`message-${index + 1}-`));
  return (
    <details
      id={id}
      class="talk-of-run"
      open={isOpen}
      onToggle={(event) => {
        if (!isPrinting.value && event.currentTarget.open !== isOpen) unfold(id, event.currentTarget.open);
      }}
    >
      <summary>
        <h3>{run.implicit ? 'the program' : (run.name ?? run.id)}</h3>{' '}
        <span class="faint">{formatCount(run.messages.length, 'message')}</span>
      </summary>
      {isOpen ? <Talk run={run} index={index} /> : null}
    </details>
  );
}

function Talk({ run, index }: TalkProps) {
  const messages = run.messages.length ? run.messages : (run.reportedMessages ?? []);
  const wish = useSignal(shownAtFirst);
  const wanted = wantedMessage(index);
  const shown = isPrinting.value
    ? mostPrinted
    : Math.max(wish.value, wanted === undefined ? 0 : messages.length - wanted + 2);
  const from = Math.max(0, messages.length - shown);
  const toolNames = useMemo(() => new Map(run.toolCalls.map(({ id, name }) => [id, name])), [run]);
  const partial = run.modelCalls.findLast((call) => call.partialText !== undefined)?.partialText;
  return (
    <div class="talk">
      {from > 0 ? (
        <button type="button" class="more more-rows" onClick={() => (wish.value = shown + shownMore)}>
          {formatNumber(Math.min(from, shownMore))} of {formatNumber(from)} earlier messages
        </button>
      ) : run.unknownMessages ? (
        <p class="faint">{formatCount(run.unknownMessages, 'message')} before these are not known.</p>
      ) : null}
      {messages.slice(from).map((message, n) => (
        <Message key={from + n} message={message} id={messageAnchor(index, from + n)} toolNames={toolNames} />
      ))}
      {partial === undefined ? null : (
        <div class="message role-assistant is-cut">
          <div class="role">assistant</div>
          <div class="content">
            <LongText text={partial} />
            <span class="cut">† cut here</span>
          </div>
        </div>
      )}
      {(run.otherConversations ?? []).slice(0, 20).map(({ lastCall, messages: count }) => (
        <p key={lastCall} class="faint">
          Another conversation of {formatCount(count, 'message')} ends with{' '}
          <a href={`#call-${lastCall}`}>{lastCall}</a>.
        </p>
      ))}
    </div>
  );
}

function wantedMessage(index: number): number | undefined {
  const [, run, message] = /^message-(\d+)-(\d+)$/.exec(target.value) ?? [];
  return Number(run) === index + 1 ? Number(message) - 1 : undefined;
}

const knownRoles = new Set(['system', 'developer', 'user', 'assistant', 'tool']);

interface MessageProps {
  message: AgentMessage;
  id: string;
  toolNames: ReadonlyMap<string, string>;
}

function Message({ message: { role, content }, id, toolNames }: MessageProps) {
  const name = knownRoles.has(role) ? role : 'other';
  return (
    <div
      id={id}
      class={`message role-${name}${target.value === id ? ' targeted' : ''}`}
      tabIndex={-1}
      data-item
    >
      <div class="role">{role}</div>
      <div class="content">
        {Array.isArray(content) ? (
          content.map((part, n) => <Part key={n} part={part} toolNames={toolNames} />)
        ) : (
          <Content value={content} />
        )}
      </div>
    </div>
  );
}

/** The parts of a message, in the format of the OpenTelemetry GenAI conventions. */
function Part({ part, toolNames }: { part: unknown; toolNames: ReadonlyMap<string, string> }) {
  if (typeof part !== 'object' || part === null) return <Content value={part} />;
  const { type, content, name, arguments: given, response, id } = part as Record<string, unknown>;
  if (type === 'text' || type === 'refusal') return <Content value={content} />;
  if (type === 'reasoning')
    return (
      <details class="thinking">
        <summary>Thinking</summary>
        <Content value={content} />
      </details>
    );
  if (type === 'tool_call')
    return (
      <div class="call">
        <p>
          calls <ToolName name={name} id={id} />
        </p>
        <Value value={given} open />
      </div>
    );
  if (type === 'tool_call_response')
    return (
      <div class="call-result">
        <p>
          answer of <ToolName name={name ?? toolNames.get(String(id)) ?? id} id={id} />
        </p>
        <Content value={response} />
      </div>
    );
  return <Value value={part} />;
}

function ToolName({ name, id }: { name: unknown; id: unknown }) {
  const text = String(name ?? 'a tool');
  return typeof id === 'string' ? (
    <a href={`#tool-${encodeURIComponent(id)}`}>{text}</a>
  ) : (
    <strong>{text}</strong>
  );
}

/** Text that is JSON is shown as its value. */
function Content({ value }: { value: unknown }) {
  if (typeof value !== 'string') return <Value value={value} open />;
  return <>{jsonIn(value) ?? <LongText text={value} isProse />}</>;
}

const longestJson = 100_000;
/** Up to this length it is initially unfolded. */
const shortJson = 1500;

function jsonIn(text: string) {
  if (!/^\s*[{["]/.test(text) || text.length > longestJson) return undefined;
  try {
    return <Value value={JSON.parse(text)} open={text.length <= shortJson} />;
  } catch {
    return undefined;
  }
}
