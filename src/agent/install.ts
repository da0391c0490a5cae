/**
 * Starts the recording of the agent in this thread: taps on HTTP clients, integrations with frameworks, and the port
 * for the explicit API. Cheap at load: what a program does not use is not loaded.
 */
import type { AgentPort } from './port.ts';
import { AgentRecorder } from './recorder.ts';
import type { EventSink } from './sink.ts';
import { tapHttp } from './taps/http.ts';
import { tapUndici } from './taps/undici.ts';

export interface AgentInstallOptions {
  sink: EventSink;
  /** content: conversations and arguments too. metadata: counts, names and timing. off: only what the API is told. */
  captureLlm: 'content' | 'metadata' | 'off';
  /** 0, the default, for the main thread. */
  threadId?: number;
}

export interface InstalledAgent {
  recorder: AgentRecorder;
  /** For the host object, where the explicit API finds it. */
  port: AgentPort;
  /** The text of `agent-events.json`, with all that is in flight: for the fatal path. */
  renderPart(): string;
  /** Hears a message of a diagnostics channel that was published before the taps were there. */
  hear(channel: string, message: unknown): void;
  uninstall(): void;
}

/** Starts to record into `sink`. */
export function installAgent({ sink, captureLlm, threadId = 0 }: AgentInstallOptions): InstalledAgent {
  const recorder = new AgentRecorder(sink, captureLlm === 'content' ? 'content' : 'metadata', threadId);
  const taps = captureLlm === 'off' ? [] : [tapUndici(recorder), tapHttp(recorder)];
  return {
    recorder,
    port: portOf(recorder),
    renderPart() {
      recorder.flush();
      return sink.renderPart();
    },
    hear(channel, message) {
      for (const tap of taps) tap.hear(channel, message);
    },
    uninstall() {
      for (const tap of taps) tap.undo();
    },
  };
}

function portOf(recorder: AgentRecorder): AgentPort {
  const { sink, level } = recorder;
  return {
    nextId: (letter) => recorder.nextId(letter),
    record: (kind, facts, content) =>
      void sink.record(kind, facts, level === 'content' ? content : withoutContent(content)),
    get storage() {
      return recorder.storage;
    },
  };
}

/** What tells names and timing only, when conversations are not to be recorded. */
function withoutContent<Content extends object>(content: Content | undefined): Content | undefined {
  if (!content) return undefined;
  const { arguments: _arguments, result, input, parts, ...rest } = content as Record<string, unknown>;
  return (parts === undefined ? rest : { ...rest, parts: [] }) as Content;
}
